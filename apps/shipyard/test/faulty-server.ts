/** The real server, which kills itself at a named call of its store, provider or recorder, and what it leaves. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readSqliteLeases, type SqliteLeases } from "@berth/environment-leases/sqlite";
import { onTestFinished } from "vitest";
import { ask, bin, plainEnvironment } from "./shipyard.js";

const preload = fileURLToPath(new URL("programs/kill-at-call.mjs", import.meta.url));

export interface FaultPoint {
  readonly call: string;
  readonly when: "before" | "after";
}

export interface Listening {
  readonly url: string;
  /** Aborted when its process is gone. */
  readonly gone: AbortSignal;
  kill(signal: NodeJS.Signals): void;
}

export interface FaultyOptions {
  readonly args: readonly string[];
  readonly point?: FaultPoint | undefined;
  /** Gets the name of every call. */
  readonly callsFile?: string | undefined;
  /** What it does once it listens; failures of it are those of a server that dies. */
  readonly whileListening: (server: Listening) => Promise<unknown>;
}

/** Runs a server to its end; gives the signal that ended it. */
export async function runFaulty({ args, point, callsFile, whileListening }: FaultyOptions): Promise<string | null> {
  const child = spawn(process.execPath, ["--import", preload, bin, "serve", "--http", "127.0.0.1:0", ...args], {
    env: {
      ...plainEnvironment,
      ...(point === undefined ? {} : { BERTH_FAULT_POINT: JSON.stringify(point) }),
      ...(callsFile === undefined ? {} : { BERTH_FAULT_CALLS: callsFile }),
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const closed = once(child, "close", { signal: AbortSignal.timeout(120_000) });
  const gone = new AbortController();
  child.once("exit", () => gone.abort());
  const kill: Listening["kill"] = (signal) => void child.kill(signal);
  let said = "";
  let busy: Promise<unknown> | undefined;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    const url = /"event":"listening","url":"(.*)\/mcp"/.exec(said)?.[1];
    if (url !== undefined) busy ??= whileListening({ url, gone: gone.signal, kill });
  });
  const [code, signal] = await closed;
  await busy;
  if (code !== null && code !== 0) throw new Error(`the server ended with ${code}: ${said}`);
  return signal;
}

/** Everything that writes leases, in turn: create, run, renew, release, one that nobody uses, and the end of the server. */
export async function liveALife({ url, gone, kill }: Listening, state: string): Promise<void> {
  await ask(`${url}/v1/sessions`, { session_id: "a" });
  await ask(`${url}/v1/sessions/a/execute`, { code: "1 + 1" });
  await ask(`${url}/execute`, { code: "2 + 2" });
  await ask(`${url}/v1/sessions/a/renew`, { ttl_ms: 900_000 });
  await fetch(`${url}/v1/sessions/a`, { method: "DELETE", signal: AbortSignal.timeout(30_000) });
  await ask(`${url}/v1/sessions`, { session_id: "b", idle_ms: 1_000 });
  // Until its idle time has passed and a sweep has ended it. The store of another process tells nobody: it is looked at.
  const signal = AbortSignal.any([gone, AbortSignal.timeout(30_000)]);
  while (!(await rowsOf(state)).some(({ endReason }) => endReason === "idle")) await pause(50, undefined, { signal });
  kill("SIGTERM");
}

/** The rows of a state folder, as they are on the disk now. */
export async function rowsOf(state: string): Promise<SqliteLeases["leases"]> {
  return (await readSqliteLeases(join(state, "leases.db")))?.leases ?? [];
}

/** Those of these workers of which a process lives: a sandbox has files of its worker's folder mounted. */
export function living(workers: readonly string[]): readonly string[] {
  const mounts = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/mountinfo`, "latin1");
      } catch {
        return ""; // it has ended
      }
    })
    .join("");
  return workers.filter((worker) => mounts.includes(`/${worker}/`));
}

/** Groups of others come and go meanwhile. */
function foldersIn(folder: string): readonly { readonly name: string }[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  } catch (error) {
    if (error instanceof Error && "code" in error && ["ENOENT", "ENODEV"].includes(String(error.code))) return [];
    throw error;
  }
}

/** Control groups that are named after one of these workers, wherever they are. */
export function groupsOf(workers: readonly string[]): readonly string[] {
  const below = (folder: string, depth: number): readonly string[] => {
    const names = foldersIn(folder);
    return names.flatMap(({ name }) => [name, ...(depth > 0 ? below(join(folder, name), depth - 1) : [])]);
  };
  const names = new Set(below("/sys/fs/cgroup", 3));
  return workers.filter((worker) => [...names].some((name) => name.includes(worker)));
}
