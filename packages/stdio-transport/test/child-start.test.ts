import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, describe, expect, it } from "vitest";
import { openChild, type SpawnFunction } from "../src/index.js";
import { PATH } from "./children.js";
import { bearersOf, untilNoneBears } from "./living.js";
import { failure, soon } from "./recorder.js";

const registry = mkdtempSync(join(tmpdir(), "berth-start-"));
afterAll(() => rmSync(registry, { recursive: true, force: true }));

/** Lets every process that is started bear a text. */
const marked =
  (token: string, then: (spawned: ChildProcess) => void = () => undefined): SpawnFunction =>
  (file, args, options) => {
    const spawned = spawn(file, args, { ...options, env: { ...options.env, TOKEN: token } });
    then(spawned);
    return spawned;
  };

describe.each(["auto", "group"] as const)("a start that fails (containment %s)", (containment) => {
  const command = { file: "sleep", args: ["600"], env: { PATH }, containment, registry } as const;

  it("gives up after the start timeout, and ends what came of it", async () => {
    const token = randomUUID();
    const stuck: SpawnFunction = (_file, _args, options) => marked(token)("sleep", ["600"], options);
    const error = await soon(failure(openChild({ ...command, spawn: stuck, startTimeoutMs: 100 })), "the failure");
    expect(error).toMatchObject({ code: "START_TIMEOUT" });
    expect(await untilNoneBears(token)).toEqual([]);
  });

  it("ends what a spawn function returns after the timeout", async () => {
    const token = randomUUID();
    let late: (() => void) | undefined;
    const spawn: SpawnFunction = (file, args, options) =>
      new Promise((resolve) => {
        late = () => resolve(marked(token)(file, args, options));
      });
    const error = await soon(failure(openChild({ ...command, spawn, startTimeoutMs: 50 })), "the failure");
    expect(error).toMatchObject({ code: "START_TIMEOUT" });
    late?.();
    await new Promise(setImmediate);
    expect(await untilNoneBears(token)).toEqual([]);
  });

  it.each([
    { moment: "before it began", abortAt: "before" },
    { moment: "while the spawn function is at work", abortAt: "spawning" },
    { moment: "when the launcher was spawned", abortAt: "spawned" },
    { moment: "when the launcher has spoken", abortAt: "ready" },
  ])("rejects with the signal's reason when it is aborted $moment, and leaves nothing", async ({ abortAt }) => {
    const token = randomUUID();
    const controller = new AbortController();
    const reason = new Error("not any more");
    const abort = (): void => controller.abort(reason);
    if (abortAt === "before") abort();
    const spawn: SpawnFunction = (file, args, options) => {
      if (abortAt === "spawning") abort();
      return marked(token, (spawned) => {
        if (abortAt === "spawned") queueMicrotask(abort);
        if (abortAt === "ready") spawned.stdio[3]?.once("data", abort);
      })(file, args, options);
    };
    expect(await soon(failure(openChild({ ...command, spawn, signal: controller.signal })), "the failure")).toBe(
      reason,
    );
    expect(await untilNoneBears(token)).toEqual([]);
    expect(readdirSync(registry)).toEqual([]);
  });

  it("passes on what the spawn function threw", async () => {
    const reason = new Error("refused by policy");
    const refuse: SpawnFunction = () => Promise.reject(reason);
    expect(await failure(openChild({ ...command, spawn: refuse }))).toBe(reason);
  });

  it("says what each launcher said when none works", async () => {
    const broken: SpawnFunction = (_file, _args, options) =>
      spawn("/bin/sh", ["-c", "echo 'no such luck' >&2; exit 4"], options);
    const error = await failure(openChild({ ...command, spawn: broken }));
    expect(error).toMatchObject({ code: "LAUNCHER_FAILED", message: expect.stringContaining("group: no such luck") });
    const absent: SpawnFunction = (_file, _args, options) => spawn("/nowhere/launcher", [], options);
    expect(await failure(openChild({ ...command, spawn: absent }))).toMatchObject({ code: "LAUNCHER_FAILED" });
  });

  it("starts nothing that it could not record", async () => {
    const token = randomUUID();
    const blocked = join(registry, "..", `berth-blocked-${token}`);
    writeFileSync(blocked, "a file where the folder should be");
    try {
      const error = await failure(openChild({ ...command, registry: blocked, spawn: marked(token) }));
      expect(error).toMatchObject({ code: "REGISTRY_UNWRITABLE", cause: { code: "EEXIST" } });
      expect(bearersOf(token)).toEqual([]);
    } finally {
      rmSync(blocked);
    }
  });

  it.each([
    { what: "a misspelled option", options: { contaiment: "auto" } },
    { what: "a misspelled grace", options: { graceMs: { killMS: 5 } } },
    { what: "a grace out of its range", options: { graceMs: { killMs: 99 } } },
    { what: "NUL in an argument", options: { args: ["a\0b"] } },
    { what: "NUL in a value", options: { env: { A: "a\0b" } } },
    { what: "= in a name", options: { env: { "A=B": "c" } } },
    { what: "an empty file", options: { file: "" } },
    { what: "an unknown containment", options: { containment: "jail" } },
  ])("refuses $what before anything is spawned", async ({ options }) => {
    let spawns = 0;
    const count: SpawnFunction = (file, args, spawnOptions) => {
      spawns++;
      return spawn(file, args, spawnOptions);
    };
    const wrong: Parameters<typeof openChild>[0] = Object.assign({ ...command, spawn: count }, options);
    expect(await failure(openChild(wrong))).toMatchObject({ code: "OPTION_INVALID" });
    expect(spawns).toBe(0);
  });
});

it("is refused in a worker thread, where the child would end with the thread", async () => {
  const worker = new Worker(new URL("programs/open-in-worker.mjs", import.meta.url));
  const outcome = new Promise((resolve, reject) => {
    worker.on("message", resolve);
    worker.on("error", reject);
  });
  expect(await soon(outcome, "the worker's answer")).toBe("SPAWN_FROM_WORKER");
  await worker.terminate();
});
