import { type ChildProcess, spawn } from "node:child_process";

/** What a short question to a program costs at most. */
export interface AskLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** What it said. */
export interface Answer {
  /** Null: ended by a signal, or ended by us. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it was ended, one part of a sentence. */
  readonly stopped: string | undefined;
}

const stderrBytes = 4_096;

/**
 * Runs a short program that is trusted to end its own children, with no input. It leads a process group, which is ended
 * when it takes too long or says too much; nothing is waited for beyond that, whoever holds its pipes. Rejects with the signal's reason, and when it cannot be started.
 */
export function askProgram(
  argv: readonly [string, ...string[]],
  options: AskLimits & { readonly env: Readonly<Record<string, string>>; readonly signal?: AbortSignal | undefined },
): Promise<Answer> {
  const { signal, timeoutMs, maxBytes } = options;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const [file, ...args] = argv;
    const child = spawn(file, args, { env: { ...options.env }, stdio: ["ignore", "pipe", "pipe"], detached: true });
    let stopped: string | undefined;
    const stop = (why: string): void => {
      stopped ??= why;
      killGroup(child);
      // A process that left the group may hold them open, and nobody would hear of the end of the one that was asked.
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const out = keepHead(child.stdout, maxBytes, () => stop(`it said more than ${maxBytes} bytes`));
    const err = keepHead(child.stderr, stderrBytes, () => {});
    const timer = setTimeout(() => stop(`it did not end within ${timeoutMs} ms`), timeoutMs);
    const abort = (): void => stop("it was no longer wanted");
    signal?.addEventListener("abort", abort, { once: true });
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      if (signal?.aborted === true) reject(signal.reason);
      else settle();
    };
    child.once("error", (error) => finish(() => reject(error)));
    child.once("close", (code) => finish(() => resolve({ code, stdout: out(), stderr: err(), stopped })));
  });
}

function keepHead(stream: NodeJS.ReadableStream | null, maxBytes: number, onOver: () => void): () => string {
  const chunks: Buffer[] = [];
  let length = 0;
  stream?.on("data", (chunk: Buffer) => {
    const room = maxBytes - length;
    if (room > 0) chunks.push(chunk.subarray(0, room));
    if (chunk.length > room) onOver();
    length += Math.min(chunk.length, Math.max(room, 0));
  });
  return () => Buffer.concat(chunks).toString("utf8");
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // ended already
  }
}
