import { type Duplex, duplexPair, PassThrough, type Readable } from "node:stream";
import { createDeferred } from "../deferred.js";
import type { GuestExit } from "../environment.js";
import type { MemoryProgram } from "./programs.js";

/** A program of a worker in memory that runs. */
export interface MemoryProcess {
  /** The host's end. */
  readonly stream: Duplex;
  readonly stderr: Readable;
  readonly exited: Promise<GuestExit>;
  signal(name: "SIGINT" | "SIGTERM" | "SIGKILL"): void;
}

/** What starts it. */
export interface MemoryStart {
  readonly program: MemoryProgram;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export function startMemoryProcess({ program, args, env, cwd }: MemoryStart): MemoryProcess {
  const [stream, inner] = duplexPair();
  const stderr = new PassThrough();
  // Of its own: a loop over a stream destroys it at its end, and the other direction of a Duplex with it.
  const stdin = inner.pipe(new PassThrough());
  const exit = createDeferred<GuestExit>();
  const interruption = new AbortController();
  const kill = new AbortController();
  const end = (how: GuestExit): void => {
    exit.resolve(how);
    kill.abort();
    inner.end();
    stderr.end();
  };
  // A host that is gone, or that never reads, is no fault of the program's.
  for (const side of [stream, inner, stdin, stderr]) side.on("error", () => undefined);
  const call = {
    args,
    env,
    cwd,
    stdin,
    stdout: inner,
    stderr,
    interrupted: interruption.signal,
    killed: kill.signal,
  };
  void run(program, call).then((code) => end({ code, signal: undefined }));
  return {
    stream,
    stderr,
    exited: exit.promise,
    signal(name) {
      if (name === "SIGKILL") end({ code: undefined, signal: name });
      else interruption.abort();
    },
  };
}

async function run(program: MemoryProgram, call: Parameters<MemoryProgram>[0]): Promise<number> {
  try {
    return await program(call);
  } catch (error) {
    call.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
