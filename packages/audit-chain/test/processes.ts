import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";

const running = new Set<ChildProcess>();

afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
});

const program = (name: string): string => fileURLToPath(new URL(`./programs/${name}`, import.meta.url));

/** A started program: what it has said so far, and how it ended. */
export interface Started {
  readonly child: ChildProcess;
  readonly lines: string[];
  /** Resolves with the first line that fits. */
  line(fits: (line: string) => boolean): Promise<string>;
  /** Resolves when it has ended and all that it said was read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** Starts a command; killed at the end of the test if it is still there. */
export function start(file: string, args: readonly string[]): Started {
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  const lines: string[] = [];
  const waiting = new Set<(line: string) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    for (const tell of waiting) tell(line);
  });
  const ended = once(child, "close").then(([code, signal]) => {
    running.delete(child);
    return { code, signal };
  });
  const line = (fits: (line: string) => boolean): Promise<string> => {
    const found = lines.find(fits);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const tell = (said: string): void => {
        if (fits(said)) resolve(said);
      };
      waiting.add(tell);
      ended.then(() => reject(new Error(`the program ended without the line; it said ${lines.slice(-3).join(" | ")}`)));
    });
  };
  return { child, lines, line, ended };
}

/** Starts a test program of this folder on the Node that runs the tests. */
export function startNode(name: string, args: readonly string[]): Started {
  return start(process.execPath, [program(name), ...args]);
}

/** Arguments of a command that runs a test program. */
export const nodeCommand = (name: string, args: readonly string[]): string[] => [
  process.execPath,
  program(name),
  ...args,
];
