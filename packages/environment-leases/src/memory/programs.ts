import type { Readable, Writable } from "node:stream";

/** What a program in memory is started with. */
export interface MemoryCall {
  /** The arguments after the program's own name. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Aborted by SIGINT and SIGTERM. A program that does not look at it goes on. */
  readonly interrupted: AbortSignal;
  /** Aborted when it is killed: what it does afterwards is not seen. */
  readonly killed: AbortSignal;
}

/** Resolves with the exit status. */
export type MemoryProgram = (call: MemoryCall) => Promise<number> | number;

/** Programs of every environment in memory. */
export const builtInPrograms: Readonly<Record<string, MemoryProgram>> = {
  /** Writes its arguments and a line feed. */
  echo({ args, stdout }) {
    stdout.write(`${args.join(" ")}\n`);
    return 0;
  },
  /** Ends with the status that it is given. */
  exit: ({ args }) => Number(args[0] ?? 0),
  /** Writes so many bytes. */
  flood({ args, stdout }) {
    stdout.write(Buffer.alloc(Number(args[0] ?? 0), "x"));
    return 0;
  },
  /** Writes what it reads, until its input ends. */
  async copy({ stdin, stdout }) {
    for await (const chunk of stdin) stdout.write(chunk);
    return 0;
  },
  /** Runs until SIGINT. */
  wait: ({ interrupted }) => new Promise((resolve) => interrupted.addEventListener("abort", () => resolve(130))),
  /** Runs until it is killed. */
  resist: () => new Promise(() => undefined),
};
