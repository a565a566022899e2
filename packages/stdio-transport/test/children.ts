import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import { type ChildHandle, type ChildOptions, openChild } from "../src/index.js";
import { createRecorder, type Recorder } from "./recorder.js";

/** A child whose frames are recorded, and a text that all its processes bear in their environment. */
export interface Opened {
  readonly child: ChildHandle;
  readonly recorder: Recorder;
  readonly token: string;
}

/** Opens children, and starts their transports if not told otherwise, for the tests of one file and ends them after each. */
export function childrenOfThisFile(): (
  options: Partial<ChildOptions> & { file: string },
  isStarted?: boolean,
) => Promise<Opened> {
  const opened: ChildHandle[] = [];
  afterEach(async () => {
    for (const child of opened.splice(0)) await child.kill();
  });
  return async (options, isStarted = true) => {
    const token = randomUUID();
    const child = await openChild({ args: [], ...options, env: { PATH, ...options.env, TOKEN: token } });
    opened.push(child);
    const recorder = createRecorder();
    if (isStarted) child.transport.start(recorder);
    return { child, recorder, token };
  };
}

/** Where sh, sleep and python3 are. */
export const PATH: string = process.env["PATH"] ?? "/usr/bin:/bin";

/** A fixture program in Python, run by the interpreter itself and not by a shim that would change its environment. */
export function python(name: string, ...args: readonly string[]): { file: string; args: readonly string[] } {
  interpreter ??= spawnSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).stdout.trim();
  return { file: interpreter, args: [fileURLToPath(new URL(`programs/${name}`, import.meta.url)), ...args] };
}
let interpreter: string | undefined;

/** A line of POSIX shell. */
export function sh(script: string, ...args: readonly string[]): { file: string; args: readonly string[] } {
  return { file: "/bin/sh", args: ["-c", script, "sh", ...args] };
}

/** Graces so long that a test which needs one of them to pass would not end in time. */
export const longGraces = { inputMs: 60_000, terminateMs: 60_000 } as const;
