import { spawn } from "node:child_process";

/** A question to a version manager's shim: run `file` with `args` and give back what it prints. */
export interface ShimQuestion {
  readonly file: string;
  readonly argv0: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Runs the question and resolves with its standard output; bounded in time and size by whoever implements it. */
export type AskInterpreter = (
  question: ShimQuestion,
  options: { readonly signal?: AbortSignal | undefined },
) => Promise<string>;

const maxAnswerBytes = 65_536;
const timeoutMs = 10_000;

/**
 * Asks a shim as a child of its own process group, which is ended after ten seconds, on abort, and when it says more
 * than 64 KiB. Resolves with nothing when it fails; what a shim says on its error output is not read.
 */
export const askAsChild: AskInterpreter = ({ file, argv0, args, env, cwd }, { signal }) => {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { argv0, env, cwd, detached: true, stdio: ["ignore", "pipe", "ignore"] });
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // The group is gone already.
      }
    };
    const abort = (): void => {
      end();
      reject(signal?.reason);
    };
    const timer = setTimeout(end, timeoutMs);
    const finish = (answer: string): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve(answer);
    };
    signal?.addEventListener("abort", abort, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxAnswerBytes) end();
      else chunks.push(chunk);
    });
    child.on("error", () => finish(""));
    child.on("close", (code) =>
      finish(code === 0 && size <= maxAnswerBytes ? Buffer.concat(chunks).toString("utf8") : ""),
    );
  });
};
