import { isDeepStrictEqual } from "node:util";
import { exitCodes, printJson, printJsonText, printLine, say } from "@berth/command-line";
import {
  addServers,
  type Catalog,
  type CatalogServer,
  emptyCatalog,
  type ImportedServer,
  importClientConfig,
} from "@berth/mcp-relay";
import { parseCatalog, updateCatalog } from "../catalog-file.js";
import { GatewayError } from "../errors.js";
import { maxCatalogBytes, readText } from "../read-text.js";

/** What the command line says. */
export interface ImportOptions {
  readonly files: readonly string[];
  readonly out?: string;
  readonly pin?: boolean;
  readonly yes?: boolean;
  readonly config?: string;
  readonly state: string;
  readonly json?: boolean;
}

/** What became of one entry. `kept`: the catalog has it already. `conflict`: it has another one of this name. */
interface ImportedEntry extends ImportedServer {
  readonly file: string;
  readonly outcome: "added" | "kept" | "conflict" | "left-out";
}

/** Reads client configurations, writes or extends a catalog, and reports each entry. */
export async function importCommand(options: ImportOptions): Promise<number> {
  if (options.pin === true && options.out === undefined) throw new GatewayError("USAGE", "--pin needs --out");
  const found = await readAll(options.files);
  let entries: ImportedEntry[] = [];
  let written = emptyCatalog;
  const merge = (text: string = emptyCatalog): string => {
    const { catalog } = parseCatalog(options.out ?? "catalog", text);
    entries = sortOut(found.servers, catalog);
    written = addServers(text, new Map(entries.filter(isAdded).map(({ name, server }) => [name, server])));
    return written;
  };
  if (options.out === undefined) merge();
  else await updateCatalog(options.out, merge);
  const failed = found.unreadable || entries.some((entry) => entry.outcome === "conflict" || isInvalid(entry));
  const code = failed ? exitCodes.failed : exitCodes.good;
  if (options.json !== true) showToPeople(options, entries, found.notes, written);
  const pinned = options.pin === true ? await pinAdded(options, entries) : undefined;
  if (options.json === true) printJson({ ...resultForPrograms(options, entries, found.notes), ...pinned?.result });
  return Math.max(code, pinned?.code ?? exitCodes.good);
}

/** Pins what was added just now. */
async function pinAdded(
  { out, yes, config, state, json }: ImportOptions,
  entries: readonly ImportedEntry[],
): Promise<{ readonly code: number; readonly result: { readonly pinned: unknown } }> {
  const server = entries.filter(isAdded).flatMap(({ name, server }) => (server.transport === "stdio" ? [name] : []));
  if (server.length === 0) return { code: exitCodes.good, result: { pinned: {} } };
  // Nothing that measures or starts is loaded for an import alone.
  const [{ exitCodeFor, pinServers }, { pinnedForPrograms }] = await Promise.all([
    import("./pin.js"),
    import("../pin-show.js"),
  ]);
  const results = await pinServers({ command: [], catalog: out, server, env: [], yes, config, state, json });
  return { code: exitCodeFor(results), result: { pinned: pinnedForPrograms(results) } };
}

type Added = ImportedEntry & { readonly server: CatalogServer };

function isAdded(entry: ImportedEntry): entry is Added {
  return entry.outcome === "added" && entry.server !== undefined;
}

function isInvalid({ notes }: ImportedEntry): boolean {
  return notes.some(({ code }) => code === "NOT_VALID" || code === "DEFINITION_MISMATCH");
}

interface Found {
  readonly servers: readonly (ImportedServer & { readonly file: string })[];
  readonly notes: readonly string[];
  readonly unreadable: boolean;
}

async function readAll(files: readonly string[]): Promise<Found> {
  const servers: (ImportedServer & { readonly file: string })[] = [];
  const notes: string[] = [];
  let unreadable = false;
  for (const file of files) {
    const text = await readText(file, maxCatalogBytes).catch((cause: unknown) => {
      if (cause instanceof GatewayError) throw cause;
      throw new GatewayError("USAGE", `${file} cannot be read`, { cause });
    });
    const report = await importClientConfig(text, file);
    unreadable ||= report.form === undefined;
    servers.push(...report.servers.map((server) => ({ ...server, file })));
    notes.push(...report.notes.map(({ message }) => `${file}  ${message}`));
    notes.push(...report.problems.map(({ line, column, message }) => `${file}:${line}:${column}  ${message}`));
  }
  return { servers, notes, unreadable };
}

/** The first entry of a name stays; an equal one is the same, and a different one is a conflict. */
function sortOut(servers: Found["servers"], catalog: Catalog): ImportedEntry[] {
  const held = new Map<string, CatalogServer>(catalog.servers);
  return servers.map((entry) => {
    const { name, server } = entry;
    if (server === undefined) return { ...entry, outcome: "left-out" };
    const before = held.get(name);
    held.set(name, before ?? server);
    if (before === undefined) return { ...entry, outcome: "added" };
    return { ...entry, outcome: isSameLaunch(before, server) ? "kept" : "conflict" };
  });
}

/** Pins and what a person added since do not make it another server. */
function isSameLaunch(before: CatalogServer, now: CatalogServer): boolean {
  const launch = (server: CatalogServer): unknown => {
    if (server.transport !== "stdio") return [server.transport, server.url];
    const { command, args, cwd, env, inheritEnv } = server.spawn;
    return JSON.parse(JSON.stringify([command, args ?? [], cwd ?? ".", env ?? {}, inheritEnv ?? []]));
  };
  return isDeepStrictEqual(launch(before), launch(now));
}

const words: Readonly<Record<ImportedEntry["outcome"], string>> = {
  added: "taken",
  kept: "is in the catalog already",
  conflict: "NOT taken: the catalog has another server of this name; rename one of them",
  "left-out": "NOT taken",
};

function resultForPrograms(
  options: ImportOptions,
  entries: readonly ImportedEntry[],
  notes: readonly string[],
): object {
  const servers = entries.map(({ file, line, sourceName, name, outcome, notes }) => ({
    file,
    line,
    sourceName,
    name,
    outcome,
    notes,
  }));
  return { out: options.out ?? null, servers, notes };
}

function showToPeople(
  options: ImportOptions,
  entries: readonly ImportedEntry[],
  notes: readonly string[],
  catalog: string,
): void {
  // Without --out the catalog itself is the result.
  const print = options.out === undefined ? say : printLine;
  for (const { file, line, sourceName, outcome, notes } of entries) {
    print(`${file}:${line}  ${sourceName}: ${words[outcome]}`);
    for (const { message } of notes) print(`    ${message}`);
  }
  for (const note of notes) print(note);
  if (options.out === undefined) printJsonText(catalog);
}
