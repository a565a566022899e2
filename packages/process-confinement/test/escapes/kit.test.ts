import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import {
  type EscapeCommand,
  type EscapeLaunch,
  type EscapeOptions,
  escapeAttempts,
  isConfinementError,
  runEscapes,
} from "../../src/escapes/index.js";

const itWithPython = partTest("python3");
const bare = ({ file, args, env }: EscapeCommand): EscapeLaunch => ({ file, args, env });
// Its own, since other tests run the kit at the same time.
const scratch = mkdtempSync(join(tmpdir(), "kit-test-"));
const folders = (): readonly string[] => readdirSync(scratch);
beforeAll(() => vi.stubEnv("TMPDIR", scratch));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(scratch, { recursive: true, force: true });
});

/** What needs rights that an ordinary user has not succeeds only as root. */
const forRoot = [
  "device-node",
  "bpf",
  "perf-event",
  "kernel-log",
  "file-handle",
  "core-pattern",
  "control-group",
  "clock",
  "device-mode",
  "raw-device",
];
const harmless = escapeAttempts.filter(({ control }) => control === "unwrapped").map(({ id }) => id);
const mine = process.getuid?.() === 0 ? harmless : harmless.filter((id) => !forRoot.includes(id));

describe("without a wrap", () => {
  itWithPython(
    "every harmless attempt escapes, and is told as such; nothing of it is left",
    async () => {
      const before = folders();
      const seen: string[] = [];
      const report = await runEscapes({ wrap: bare, attempts: mine, onResult: ({ id }) => void seen.push(id) });
      expect(report.results.filter(({ outcome }) => outcome !== "escaped")).toEqual([]);
      expect([seen, report.escaped, report.refused, report.inconclusive]).toEqual([mine, mine.length, 0, 0]);
      expect(folders()).toEqual(before);
    },
    120_000,
  );
});

describe("a wrap that does not do its work", () => {
  const attempts = ["secret-path", "host-loopback", "memory", "double-fork"];
  itWithPython("and runs nothing looks confined to nobody", async () => {
    const report = await runEscapes({ wrap: () => ({ file: "/bin/true", args: [] }), attempts });
    expect(report.results.map(({ outcome }) => outcome)).toEqual(attempts.map(() => "inconclusive"));
    for (const { controls } of report.results) expect(unheld(controls)).toEqual(["own-write", "answered"]);
  });

  itWithPython("and cannot be started is told with its reason", async () => {
    const wraps = [() => ({ file: "/nonexistent", args: [] }), () => Promise.reject(new Error("no such machine"))];
    for (const wrap of wraps) {
      const report = await runEscapes({ wrap, attempts });
      expect(report.inconclusive).toBe(attempts.length);
      const seen = report.results[0]?.controls.find(({ name }) => name === "started")?.seen;
      expect(seen).toMatch(/ENOENT|no such machine/);
    }
  });

  itWithPython("and lets the program write nowhere proves nothing", async () => {
    const wrap = ({ file, args, env, workspace }: EscapeCommand): EscapeLaunch => {
      const [isolated, ...rest] = args;
      const program = `import os, runpy, sys; os.rmdir("${workspace}"); sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name="__main__")`;
      return { file, args: [isolated ?? "", "-c", program, ...rest.slice(1)], env };
    };
    const { results } = await runEscapes({ wrap, attempts: ["secret-path", "inherited-descriptor"] });
    for (const { controls } of results) expect(unheld(controls)).toContain("own-write");
  });

  itWithPython("and never ends is ended", async () => {
    const wrap = ({ env }: EscapeCommand): EscapeLaunch => ({ file: "/bin/sleep", args: ["600"], env });
    const { results } = await runEscapes({ wrap, attempts: ["secret-path"], attemptTimeoutMs: 1_000 });
    expect(results[0]).toMatchObject({
      outcome: "inconclusive",
      answer: { outcome: "silent", name: "no end in time" },
    });
  });
});

describe("plain bubblewrap", () => {
  const bubblewrap = ({ file, args, env, workspace, readOnly }: EscapeCommand): EscapeLaunch => {
    const tree = [
      "--ro-bind",
      "/usr",
      "/usr",
      "--symlink",
      "usr/lib",
      "/lib",
      "--symlink",
      "usr/lib64",
      "/lib64",
      "--symlink",
      "usr/bin",
      "/bin",
    ];
    const bound = readOnly.flatMap((path) => ["--ro-bind", path, path]);
    const all = [
      "--unshare-all",
      "--die-with-parent",
      "--proc",
      "/proc",
      "--dev",
      "/dev",
      "--tmpfs",
      "/tmp",
      ...tree,
      ...bound,
    ];
    return { file: "bwrap", args: [...all, "--bind", workspace, workspace, "--", file, ...args], env };
  };

  partTest("bubblewrap", "python3")(
    "keeps files and networks apart, and leaves descriptors and system calls",
    async () => {
      const closed = ["secret-path", "proc-root", "host-loopback", "abstract-socket", "double-fork", "held-pipes"];
      const open = ["inherited-descriptor", "unshare", "io-uring"];
      const { results } = await runEscapes({ wrap: bubblewrap, attempts: [...closed, ...open] });
      const outcomes = Object.fromEntries(results.map(({ id, outcome }) => [id, outcome]));
      const expected = [...closed.map((id) => [id, "refused"]), ...open.map((id) => [id, "escaped"])];
      expect(outcomes).toEqual(Object.fromEntries(expected));
    },
  );
});

describe("the options", () => {
  it.each([
    {
      what: "an attempt that is not there",
      options: { attempts: ["nothing"] },
      code: "SANDBOX_OPTION_INVALID",
      field: "attempts",
    },
    {
      what: "one attempt for a list",
      options: JSON.parse('{"attempts":"clock"}'),
      code: "SANDBOX_OPTION_INVALID",
      field: "attempts",
    },
    { what: "no wrap", options: JSON.parse('{"wrap":null}'), code: "SANDBOX_OPTION_INVALID", field: "wrap" },
    { what: "a misspelled option", options: { attempt: [] }, code: "SANDBOX_OPTION_INVALID", field: "attempt" },
    {
      what: "a misspelled limit",
      options: { limits: { memory: 1 } },
      code: "SANDBOX_OPTION_INVALID",
      field: "limits.memory",
    },
    {
      what: "a limit that this machine should not bear",
      options: { limits: { processes: 100_000 } },
      code: "SANDBOX_OPTION_INVALID",
      field: "limits.processes",
    },
    { what: "a relative interpreter", options: { python: "python3" }, code: "SANDBOX_OPTION_INVALID", field: "python" },
    { what: "no interpreter", options: { python: "/nonexistent" }, code: "INTERPRETER_NOT_FOUND", field: "python" },
    {
      what: "an interpreter that ends",
      options: { python: "/bin/true" },
      code: "INTERPRETER_NOT_FOUND",
      field: "python",
    },
    { what: "no time", options: { attemptTimeoutMs: 1 }, code: "SANDBOX_OPTION_INVALID", field: "attemptTimeoutMs" },
  ])("are refused with $what, and nothing is left", async ({ options, code, field }) => {
    const before = folders();
    const refusal = await failureOf({ wrap: bare, ...options });
    expect(isConfinementError(refusal) && [refusal.code, refusal.field]).toEqual([code, field]);
    expect(folders()).toEqual(before);
  });

  it("end the wait for an interpreter that says nothing, in time and by a signal", async () => {
    const before = folders();
    const python = join(scratch, "silent");
    writeFileSync(python, "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
    expect(await failureOf({ wrap: bare, python, attemptTimeoutMs: 1_000 })).toMatchObject({
      code: "INTERPRETER_NOT_FOUND",
    });
    const ending = new AbortController();
    const failure = failureOf({ wrap: bare, python, signal: ending.signal });
    ending.abort("enough");
    expect(await failure).toBe("enough");
    rmSync(python);
    expect(folders()).toEqual(before);
  });

  itWithPython("end the kit by a signal, and nothing is left", async () => {
    const before = folders();
    const ending = new AbortController();
    const reason = new Error("enough");
    const wrap = ({ env }: EscapeCommand): EscapeLaunch => {
      queueMicrotask(() => ending.abort(reason));
      return { file: "/bin/sleep", args: ["600"], env };
    };
    expect(await failureOf({ wrap, signal: ending.signal })).toBe(reason);
    expect(await failureOf({ wrap, signal: AbortSignal.abort(reason) })).toBe(reason);
    expect(folders()).toEqual(before);
  });
});

function unheld(controls: readonly { readonly name: string; readonly held: boolean }[]): readonly string[] {
  return controls.filter(({ held }) => !held).map(({ name }) => name);
}

async function failureOf(options: EscapeOptions): Promise<unknown> {
  try {
    await runEscapes(options);
  } catch (error) {
    return error;
  }
  return undefined;
}
