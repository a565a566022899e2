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

export interface LaunchOptions {
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** How long its end is waited for. */
  readonly signal?: AbortSignal;
}

/** A process of the server, at whatever point of its life. */
export interface Launched {
  readonly child: ChildProcess;
  /** What it said on stderr. */
  readonly lines: readonly string[];
  /** Its URL; rejects with what it said when it ends before it listens. */
  readonly listening: Promise<string>;
  /** Once everything it said is read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** Starts `serve --http` on a free port. It does not outlive the test. */
export function launch(args: readonly string[], { nodeArgs = [], env = {}, signal }: LaunchOptions = {}): Launched {
  const child = spawn(process.execPath, [...nodeArgs, bin, "serve", "--http", "127.0.0.1:0", ...args], {
    env: { ...plainEnvironment, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const closed = once(child, "close");
  onTestFinished(async () => {
    // Killed, it would leave the empty control groups of its sandboxes: no later server looks at this state folder.
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), 5_000);
    await closed;
    clearTimeout(late);
  });
  const lines: string[] = [];
  const listening = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(line);
      const url = /^\{"event":"listening","url":"(.*)\/mcp"\}$/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
    void closed.then(([code]) => reject(new Error(`ended with ${code}: ${lines.join("\n")}`)));
  });
  const ended = once(child, "close", { signal }).then(([code, endedBy]) => ({ code, signal: endedBy }));
  return { child, lines, listening, ended };
}

/** Starts a server and waits until it says that it listens; rejects with what it said when it ends before. */
export async function serve(
  args: readonly string[],
  options: Pick<LaunchOptions, "nodeArgs" | "env"> = {},
): Promise<Served> {
  const { child, lines, listening, ...launched } = launch(args, options);
  const ended = launched.ended.then(({ code }) => code);
  return {
    url: await listening,
    pid: child.pid ?? 0,
    stderr: () => lines.join("\n"),
    ended,
    kill: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Makes a token of this principal's. */
export async function tokenFor(name: string, file: string): Promise<string> {
  const { code, stdout, stderr } = await shipyard(["token", name, "--file", file]);
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}

/** The headers of requests of this principal, for whom a token is made. */
export const tokenHeaders = async (name: string, file: string): Promise<{ readonly authorization: string }> => ({
  authorization: `Bearer ${await tokenFor(name, file)}`,
});

/** A JSON request to a server. */
export async function ask(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, body: await response.json() };
}
