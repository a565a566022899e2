/** Starts the real command as a process, and connects the official client to it. */
import { spawn } from "node:child_process";
import { cp, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

export const bin: string = fileURLToPath(new URL("../bin/berth-gateway.js", import.meta.url));
const servers = fileURLToPath(new URL("servers", import.meta.url));

/** The environment that commands get unless a test says more: no XDG folders of this machine's user. */
export const plainEnvironment: Record<string, string> = {
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "/",
};

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface GatewayOptions {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly input?: string;
  /** Keeps the input open until stdout holds this text. */
  readonly inputUntil?: string;
  /** Default 60_000. */
  readonly timeoutMs?: number;
}

/** Runs a command to its end. */
export function gateway(args: readonly string[], options: GatewayOptions = {}): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd: options.cwd,
      env: { ...plainEnvironment, ...options.env },
      stdio: "pipe",
      timeout: options.timeoutMs ?? 60_000,
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (options.inputUntil !== undefined && stdout.includes(options.inputUntil)) child.stdin.end();
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
    child.stdin.on("error", () => {}); // it may end before it has read its input
    child.stdin.write(options.input ?? "");
    if (options.inputUntil === undefined) child.stdin.end();
  });
}

/** A client of the official SDK, over a gateway process of its own. */
export interface Connected extends AsyncDisposable {
  readonly client: Client;
  readonly pid: number;
  readonly stderr: () => string;
  close(): Promise<void>;
}

export async function connect(args: readonly string[], options: GatewayOptions = {}): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, ...args],
    env: { ...plainEnvironment, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const client = new Client({ name: "test", version: "1" }, { capabilities: {} });
  try {
    await client.connect(transport);
  } catch (error) {
    await client.close();
    throw new Error(`${String(error)}\n${stderr}`, { cause: error });
  }
  const close = (): Promise<void> => client.close();
  return { client, pid: transport.pid ?? 0, stderr: () => stderr, close, [Symbol.asyncDispose]: close };
}

/** A folder of its own for one test, with a copy of the small servers and an unused state folder. */
export interface Workplace extends AsyncDisposable {
  readonly folder: string;
  readonly state: string;
  readonly server: string;
  readonly catalog: string;
  writeCatalog(servers: Record<string, unknown>): Promise<void>;
}

export async function workplace(): Promise<Workplace> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "berth-gateway-")));
  await cp(servers, join(folder, "small"), { recursive: true });
  // A package of its own, so that the measured folder is exactly this one.
  await writeFile(
    join(folder, "small", "package.json"),
    JSON.stringify({ name: "small-server", version: "1.2.3", author: "A Test", type: "module" }),
  );
  const catalog = join(folder, "catalog.json");
  return {
    folder,
    state: join(folder, "state"),
    server: join(folder, "small", "small-server.mjs"),
    catalog,
    writeCatalog: (entries) =>
      writeFile(catalog, `${JSON.stringify({ version: 1, servers: entries }, undefined, 2)}\n`),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A catalog entry for the small server; `spawn` adds to or replaces members of its launch, `terms` members beside it. */
export function small(
  place: Workplace,
  spawn: Record<string, unknown> = {},
  terms: Record<string, unknown> = {},
): Record<string, unknown> {
  return { transport: "stdio", spawn: { command: process.execPath, args: [place.server], ...spawn }, ...terms };
}

/** Entries of all logs, as `audit tail` prints them. */
export async function logEntries(state: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await gateway(["audit", "tail", "--state", state, "--json"]);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
