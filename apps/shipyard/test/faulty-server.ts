/** The real server, which kills itself at a named call of its store, provider or recorder. */
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { rowsOf } from "./remains.js";
import { ask, launch } from "./shipyard.js";

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
  const gone = new AbortController();
  const { child, lines, listening, ended } = launch(args, {
    nodeArgs: ["--import", preload],
    env: {
      ...(point === undefined ? {} : { BERTH_FAULT_POINT: JSON.stringify(point) }),
      ...(callsFile === undefined ? {} : { BERTH_FAULT_CALLS: callsFile }),
    },
    signal: AbortSignal.timeout(120_000),
  });
  child.once("exit", () => gone.abort());
  const kill: Listening["kill"] = (signal) => void child.kill(signal);
  // One that is killed before it listens has nothing to do.
  const busy = listening.then(
    (url) => whileListening({ url, gone: gone.signal, kill }),
    () => undefined,
  );
  const [{ code, signal }] = await Promise.all([ended, busy]);
  if (code !== null && code !== 0) throw new Error(`the server ended with ${code}: ${lines.join("\n")}`);
  return signal;
}

/** Everything that writes leases, in turn: create, run, renew, release, one that nobody uses, and the end of the server. */
export async function liveALife({ url, gone, kill }: Listening, state: string): Promise<void> {
  const idleEnds = async (): Promise<number> => (await rowsOf(state)).filter((row) => row.endReason === "idle").length;
  const ofEarlierLives = await idleEnds();
  await ask(`${url}/v1/sessions`, { session_id: "a" });
  await ask(`${url}/v1/sessions/a/execute`, { code: "1 + 1" });
  await ask(`${url}/execute`, { code: "2 + 2" });
  await ask(`${url}/v1/sessions/a/renew`, { ttl_ms: 900_000 });
  await fetch(`${url}/v1/sessions/a`, { method: "DELETE", signal: AbortSignal.timeout(30_000) });
  await ask(`${url}/v1/sessions`, { session_id: "b", idle_ms: 1_000 });
  // Until its idle time has passed and a sweep has ended it. The store of another process tells nobody: it is looked at.
  const signal = AbortSignal.any([gone, AbortSignal.timeout(30_000)]);
  while ((await idleEnds()) === ofEarlierLives) await pause(50, undefined, { signal });
  kill("SIGTERM");
}
