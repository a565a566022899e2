import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable } from "node:stream";

/** A question to a version manager's shim: run `file` with `args` and give back what it prints. */
export interface ShimQuestion {
  readonly file: string;
  readonly argv0: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Runs the question and resolves with its standard output; bounded in time and size by whoever implements it. */
export type AskInterpreter = (question: ShimQuestion, options: AskOptions) => Promise<string>;

/** How long the answer may take. */
export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  /** Default 10_000. */
  readonly timeoutMs?: number | undefined;
}

const maxAnswerBytes = 65_536;

/**
 * Asks a shim as a child of its own process group, which is ended after `timeoutMs`, on abort, and when it says more
 * than 64 KiB. Resolves with nothing when it fails; what a shim says on its error output is not read.
 */
export const askAsChild: AskInterpreter = (question, { signal, timeoutMs = 10_000 }) => {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = startAsking(question);
    if (child === undefined) return resolve("");
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
      act();
    };
    const giveUp = (): void => {
      end(child);
      settle(() => resolve(""));
    };
    const aborted = (): void => {
      end(child);
      settle(() => reject(signal?.reason));
    };
    const timer = setTimeout(giveUp, timeoutMs);
    signal?.addEventListener("abort", aborted, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxAnswerBytes) giveUp();
    });
    child.on("error", giveUp);
    child.on("close", (code) => settle(() => resolve(code === 0 ? Buffer.concat(chunks).toString("utf8") : "")));
  });
};

type AskedChild = ChildProcessByStdio<null, Readable, null>;

function startAsking({ file, argv0, args, env, cwd }: ShimQuestion): AskedChild | undefined {
  try {
    return spawn(file, args, { argv0, env, cwd, detached: true, stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    // The system has no room for a process, or takes no such argument: there is no answer then.
    return undefined;
  }
}

/** Ends the whole group, and lets go of a descendant that left it with our pipe. */
function end(child: AskedChild): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group is gone already.
  }
  child.stdout.destroy();
  child.unref();
}
