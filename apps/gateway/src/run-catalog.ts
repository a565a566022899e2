import { hash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { addServers, catalogName, emptyCatalog, type ServerPins, type StdioServer, writePins } from "@berth/mcp-relay";
import { ifAbsent, parseCatalog, updateCatalog } from "./catalog-file.js";
import { maxCatalogBytes, readText } from "./read-text.js";
import type { StateFolder } from "./state-folder.js";

/** One line of a client's configuration: what identifies a server that `run` starts. */
export interface RunCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
}

/** The name of a run server: readable, and another one for another command, argument list or folder. */
export function runName({ command, args, cwd }: RunCommand): string {
  const key = hash("sha256", JSON.stringify([command, args, cwd]), "hex").slice(0, 12);
  return `${catalogName(subject(command, args), new Set()).slice(0, 40)}-${key}`.replace(/_+-/u, "-");
}

/** The entry of a server that was run before, or undefined. */
export async function findRunServer(state: StateFolder, name: string): Promise<StdioServer | undefined> {
  const text = await readText(state.runCatalog, maxCatalogBytes).catch(ifAbsent);
  if (text === undefined) return undefined;
  const server = parseCatalog(state.runCatalog, text).catalog.servers.get(name);
  return server?.transport === "stdio" ? server : undefined;
}

/** A new entry, before anything is pinned. */
export function newRunServer({ command, args, cwd }: RunCommand, inheritEnv: readonly string[]): StdioServer {
  return { transport: "stdio", spawn: { command, args, cwd, ...(inheritEnv.length > 0 ? { inheritEnv } : {}) } };
}

/** A run server with the variables that this command line names. */
export function withVariables(server: StdioServer, names: readonly string[]): StdioServer {
  return names.length === 0 ? server : { ...server, spawn: { ...server.spawn, inheritEnv: [...new Set(names)] } };
}

/** A run server with the files that this command line leaves out of the digest. */
export function withIgnored(server: StdioServer, globs: readonly string[]): StdioServer {
  return globs.length === 0 ? server : { ...server, spawn: { ...server.spawn, measureIgnore: [...new Set(globs)] } };
}

/** How to keep pins of a run server. */
export interface KeepOptions {
  /** An entry that another process wrote meanwhile stays: the first use is decided once. */
  readonly onlyIfNew: boolean;
  readonly signal: AbortSignal;
}

/** Keeps what was accepted about a run server. */
export async function keepRunPins(
  state: StateFolder,
  name: string,
  server: StdioServer,
  pins: ServerPins,
  { onlyIfNew, signal }: KeepOptions,
): Promise<void> {
  await mkdir(state.locks, { recursive: true, mode: 0o700 });
  const edit = (text: string = emptyCatalog): string => {
    const { servers } = parseCatalog(state.runCatalog, text).catalog;
    const held = servers.get(name);
    if (held !== undefined && onlyIfNew) return text;
    const { measureIgnore = [] } = server.spawn;
    // The digest goes with what it leaves out; whatever else the entry says stays.
    const isOther = held?.transport === "stdio" && !isDeepStrictEqual(held.spawn.measureIgnore ?? [], measureIgnore);
    const entry = isOther ? withIgnored(held, measureIgnore) : server;
    const withEntry = held === undefined || isOther ? addServers(text, new Map([[name, entry]])) : text;
    return writePins(withEntry, new Map([[name, pins]]), [name]);
  };
  await updateCatalog(state.runCatalog, edit, { lock: `${state.locks}/run-catalog`, signal });
}

/** The word of a command line that says what it is: the package of its script, the script, or the program. */
function subject(command: string, args: readonly string[]): string {
  const script = args.find((word) => /[\\/]node_modules[\\/]|[^.\\/]\.\w+$/u.test(word)) ?? command;
  const packageName = /node_modules[\\/](?:@[^\\/]+[\\/])?([^\\/]+)(?!.*node_modules)/u.exec(script)?.[1];
  const file = script.split(/[\\/]/u).at(-1) ?? script;
  return packageName ?? file.replace(/\.\w+$/u, "");
}
