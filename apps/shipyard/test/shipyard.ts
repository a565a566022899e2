/** Starts the real command as a process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const bin: string = fileURLToPath(new URL("../bin/berth-shipyard.js", import.meta.url));
export const appFolder: string = fileURLToPath(new URL("..", import.meta.url));

/** The environment that commands get: no XDG folders of this machine's user. */
export const plainEnvironment: Record<string, string> = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" };

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
export async function shipyard(
  args: readonly string[],
  options: { cwd?: string; input?: string } = {},
): Promise<Finished> {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: options.cwd ?? appFolder,
    env: plainEnvironment,
    stdio: "pipe",
    timeout: 60_000,
  });
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
    });
  }
  child.stdin.on("error", () => {}); // it may end before it has read its input
  child.stdin.end(options.input ?? "");
  const [code] = await once(child, "close");
  return { code, ...text };
}

/** A folder for one test, removed after it. Short, since sockets lie in it. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ys-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A configuration file in a folder. */
export function writeConfig(folder: string, lines: readonly string[]): string {
  const path = join(folder, "shipyard.yaml");
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

/** Without a sandbox, so that a test says nothing about the machine. Few warm workers: starting them takes time. */
export const unconfined: readonly string[] = ["provider: unconfined", "sessions: { warmWorkers: 1 }"];

/** A server that listens. */
export interface Served {
  readonly url: string;
  readonly pid: number;
  readonly stderr: () => string;
  /** The exit code, once everything it said is read. */
  readonly ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts `serve --http` on a free port and waits until it says that it listens; rejects with what it said when it ends before. */
export async function serve(
  args: readonly string[],
  { nodeArgs = [], env = {} }: { nodeArgs?: readonly string[]; env?: Record<string, string> } = {},
): Promise<Served> {
  const child: ChildProcess = spawn(process.execPath, [...nodeArgs, bin, "serve", "--http", "127.0.0.1:0", ...args], {
    env: { ...plainEnvironment, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const lines: string[] = [];
  const ended = once(child, "close").then(([code]): number | null => code);
  if (child.stderr === null) throw new Error("no stderr");
  const reader = createInterface({ input: child.stderr });
  const url = await new Promise<string>((resolve, reject) => {
    reader.on("line", (line) => {
      lines.push(line);
      const found = /^\{"event":"listening","url":"(.*)\/mcp"\}$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then((code) => reject(new Error(`ended with ${code}: ${lines.join("\n")}`)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    stderr: () => lines.join("\n"),
    ended,
    kill: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** A JSON request to a server. */
export async function ask(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, body: await response.json() };
}
