import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Launch } from "../../src/index.js";

const modules = fileURLToPath(new URL("../../../../node_modules", import.meta.url));

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Installs a package out of this workspace's node_modules, with everything that it needs, hoisted as npm does.
 * Gives back the folder that holds node_modules.
 */
export function installHoisted(folder: string, name: string): string {
  const seen = new Set<string>();
  const install = (wanted: string, from: string): void => {
    const source = find(wanted, from);
    if (source === undefined || seen.has(source)) return;
    seen.add(source);
    const place = join(folder, "node_modules", source.slice(modules.length + 1));
    cpSync(source, place, {
      recursive: true,
      filter: (path) => path === source || !path.slice(source.length).includes("node_modules"),
    });
    const manifest: Manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
    for (const next of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }))
      install(next, source);
  };
  install(name, modules);
  return folder;
}

/** As Node looks for it: in the node_modules of each folder above. */
function find(name: string, from: string): string | undefined {
  for (let folder = from; folder.startsWith(dirname(modules)); folder = dirname(folder)) {
    const place = join(folder, "node_modules", name);
    if (existsSync(join(place, "package.json"))) return place;
  }
  return undefined;
}

/** Starts exactly what was handed over, with pipes. */
export function start({ file, argv0, args, env, cwd }: Launch): ChildProcess {
  return spawn(file, args, { argv0, env, cwd, stdio: ["pipe", "pipe", "ignore"] });
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}

const request = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** The handshake of MCP; gives back the server's name. */
export async function initialize(child: ChildProcess): Promise<string> {
  if (child.stdin === null || child.stdout === null) throw new Error("the child has no pipes");
  child.stdin.write(`${JSON.stringify(request)}\n`);
  const lines = createInterface(child.stdout);
  const ended = once(child, "close").then(() => undefined);
  const line = await Promise.race([once(lines, "line").then(([text]: string[]) => text), ended]);
  if (line === undefined) throw new Error("the server ended without an answer");
  const answer: { result: { serverInfo: { name: string } } } = JSON.parse(line);
  return answer.result.serverInfo.name;
}
