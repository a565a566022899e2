/** What the tests of compiling share: the program by itself, with bounds that a test can wait for, and sources that cost much. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { readCompilerSource } from "../../src/compiler-source.js";
import { compileLimits } from "../../src/environments/build/compile-modules.js";
import { python, scratch } from "./world.js";

/** Writes files below a new folder; gives it. */
export function folderOf(files: Record<string, string | Buffer>): string {
  const folder = scratch();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** What the program is asked for beside its limits. */
export interface Run {
  readonly limits?: Partial<Record<keyof typeof compileLimits | "maxSeconds", number>>;
  readonly interpreter?: string;
  /** What the program is run by, for instance a shell with a limit. */
  readonly by?: readonly string[];
  readonly folders?: readonly string[];
}

/** Starts it over `lib` of a folder, as the leader of a process group. */
export async function startCompiler(folder: string, run: Run = {}): Promise<ChildProcess> {
  const { limits = {}, interpreter = python, by = [], folders = ["lib"] } = run;
  const task = { environment: folder, target: "/target", folders };
  const given = JSON.stringify({ ...task, limits: { ...compileLimits, maxSeconds: 60, ...limits } });
  const [file = "", ...args] = [...by, interpreter, "-I", "-S", "-B", "-c", await readCompilerSource(), given];
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"], detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Runs it to its end; gives the last line that it said. */
export async function compileIn(folder: string, run: Run = {}): Promise<unknown> {
  const child = await startCompiler(folder, run);
  if (child.stdout === null) throw new Error("no stdout");
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (code !== 0) throw new Error(`the program ended with ${code}`);
  return JSON.parse(said.trimEnd().split("\n").at(-1) ?? "");
}

/** A block that compilers from 3.8 on make two of, each time that it stands in another. */
function doubled(times: number): string {
  const lines: string[] = [];
  for (let at = 0; at < times; at++) {
    const indent = " ".repeat(at + 1);
    lines.push(`${indent}try:`, `${indent} f(a, b, c)`, `${indent}finally:`);
  }
  return `${lines.join("\n")}\n${" ".repeat(times + 1)}pass\n`;
}

/** A source of some kilobytes that costs a second or more of processor time, and little memory, so many times. */
export function slowSource(times: number): string {
  return Array.from({ length: times * 3 }, (_, at) => `def f${at}():\n${doubled(16)}`).join("");
}

/** A source of some kilobytes that takes more memory than there is for one. */
export const largeSource: string = `def f():\n${doubled(19)}`;
