import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sweepChildren } from "../src/index.js";
import { readStat, readWorld } from "../src/process-identity.js";
import { failure } from "./recorder.js";

// Records are written by hand here, so that they can name what a host would not: numbers that were used again.
let folder = "";
let sleeper: ChildProcess;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-sweep-"));
  sleeper = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  await once(sleeper, "spawn");
});
afterEach(async () => {
  if (sleeper.exitCode === null && sleeper.signalCode === null) {
    sleeper.kill("SIGKILL");
    await once(sleeper, "exit");
  }
  rmSync(folder, { recursive: true, force: true });
});

const world = readWorld() ?? { bootId: "", pidNamespace: "" };
const empty = { ended: [], gone: 0, held: 0, foreign: 0, unproven: [], failed: [] } as const;

/** A child of a host that is dead, namely the sleeper. */
function recordOf(pid: number, change: Record<string, unknown> = {}): Record<string, unknown> {
  const startTime = readStat(pid)?.startTime;
  const host = { pid: spawnSync("true").pid, startTime: "1" };
  const processes = [{ pid, startTime }];
  return { format: 1, file: "sleep", world, host, session: pid, command: pid, processes, ...change };
}

function put(record: unknown, namespace = world.pidNamespace.replace(/\D/g, ""), end = ".json"): string {
  const path = join(folder, `${namespace}-${spawnSync("true").pid}-1-0123456789abcdef${end}`);
  writeFileSync(path, typeof record === "string" ? record : JSON.stringify(record));
  return path;
}

const pidOf = ({ pid }: ChildProcess): number => {
  if (pid === undefined) throw new Error("it did not start");
  return pid;
};
/** Also while it has only just been started and does not sleep yet. */
const runs = (): boolean => !["Z", "X", undefined].includes(readStat(pidOf(sleeper))?.state);

it("ends a process of which number, start time, boot and namespace are the recorded ones", async () => {
  const pid = pidOf(sleeper);
  put(recordOf(pid));
  expect(await sweepChildren(folder)).toEqual({ ...empty, ended: [{ pid, file: "sleep" }] });
  expect(readdirSync(folder)).toEqual([]);
  if (sleeper.signalCode === null) await once(sleeper, "exit");
  expect(sleeper.signalCode).toBe("SIGKILL");
});

it("never ends a process whose number was used again: its start time is another", async () => {
  const pid = pidOf(sleeper);
  put(recordOf(pid, { processes: [{ pid, startTime: "7" }] }));
  expect(await sweepChildren(folder)).toEqual({ ...empty, gone: 1 });
  expect(runs()).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});

it("never ends a process after a new boot of the machine", async () => {
  put(recordOf(pidOf(sleeper), { world: { ...world, bootId: "00000000-0000-0000-0000-000000000000" } }));
  expect(await sweepChildren(folder)).toEqual({ ...empty, gone: 1 });
  expect(runs()).toBe(true);
});

it("says nothing of records of another pid namespace, where numbers mean others", async () => {
  const path = put(recordOf(pidOf(sleeper)), "4026530000");
  expect(await sweepChildren(folder)).toEqual({ ...empty, foreign: 1 });
  expect(runs()).toBe(true);
  expect(existsSync(path)).toBe(true);
});

it.each([
  { what: "that are not JSON", record: '{"format":1,' },
  { what: "of another format", record: { format: 2 } },
  { what: "that name process 1", record: { session: 1, command: 1, processes: [{ pid: 1, startTime: "1" }] } },
  { what: "that name the own group", record: { session: 0, command: 0, processes: [{ pid: 0, startTime: "1" }] } },
  { what: "with a negative number", record: { processes: [{ pid: -1, startTime: "1" }] } },
])("kills nobody for records $what", async ({ record }) => {
  put(typeof record === "string" ? record : recordOf(pidOf(sleeper), record));
  expect(await sweepChildren(folder)).toEqual({ ...empty, gone: 1 });
  expect(runs()).toBe(true);
});

it("removes a record that was half written when its host died, and no file of others", async () => {
  put('{"for', undefined, ".json.part");
  writeFileSync(join(folder, "notes.txt"), "mine");
  expect(await sweepChildren(folder)).toEqual({ ...empty, gone: 1 });
  expect(readdirSync(folder)).toEqual(["notes.txt"]);
});

it("finds nothing in a folder that is not there, and stops when it is aborted", async () => {
  expect(await sweepChildren(join(folder, "none"))).toEqual(empty);
  const reason = new Error("enough");
  expect(await failure(sweepChildren(folder, { signal: AbortSignal.abort(reason) }))).toBe(reason);
  expect(await failure(sweepChildren(folder, { killMs: 0 }))).toMatchObject({ code: "OPTION_INVALID" });
});
