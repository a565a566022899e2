import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const program = fileURLToPath(new URL("programs/writer.mjs", import.meta.url));

/** A process that writes a store. */
export interface Writer {
  readonly pid: number;
  readonly lines: Interface;
  /** Every line until its end. */
  readonly all: Promise<readonly string[]>;
  /** The first line: `open`, or the code of a refusal. */
  readonly first: Promise<string | undefined>;
  /** SIGKILL; resolves when it is gone and its lines are read. */
  kill(): Promise<void>;
}

/** Starts a writer; `hold`: it only opens, and keeps it open. */
export function startWriter(path: string, mode: "write" | "hold" = "write", launcher: readonly string[] = []): Writer {
  const [file = process.execPath, ...args] = [...launcher, process.execPath, program, path, mode];
  const child: ChildProcess = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  if (child.stdout === null) throw new Error("no stdout");
  const seen: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => seen.push(line));
  const closed = once(child, "close");
  const first = Promise.race([once(lines, "line").then(([line]) => String(line)), closed.then(() => seen[0])]);
  return {
    pid: child.pid ?? 0,
    lines,
    first,
    all: closed.then(() => seen),
    kill: async () => {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/** Resolves after so many lines, or at the writer's end. */
export function linesOf(writer: Writer, count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    writer.lines.on("line", () => {
      left -= 1;
      if (left === 0) resolve();
    });
    void writer.all.then(() => resolve());
  });
}
