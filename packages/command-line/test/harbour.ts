/** Runs the program of these tests as a process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("programs/harbour.mjs", import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function start(args: readonly string[]): { readonly child: ChildProcess; readonly finished: Promise<Finished> } {
  const child = spawn(process.execPath, [program, ...args], { stdio: "pipe", timeout: 20_000 });
  const finish = async (): Promise<Finished> => {
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    return { code, stdout, stderr };
  };
  return { child, finished: finish() };
}

export const harbour = (...args: readonly string[]): Promise<Finished> => start(args).finished;
