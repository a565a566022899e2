import { type DocumentPath, type JsonDocument, readJsonDocument } from "../catalog-document.js";
import { readClientEntry } from "./client-entry.js";
import { readCodexToml } from "./codex-toml.js";
import type { ClientEntry, ClientForm, ImportedServer, ImportNote, ImportReport } from "./report.js";
import { importToolList } from "./tool-list.js";

/** Where each form keeps its servers. The first that is there decides. */
const places: readonly { readonly form: ClientForm; readonly path: DocumentPath }[] = [
  { form: "mcpServers", path: ["mcpServers"] },
  { form: "vscode", path: ["servers"] },
  { form: "vscode", path: ["mcp", "servers"] },
  { form: "zed", path: ["context_servers"] },
];

/**
 * Reads a client's configuration: `mcpServers` (Claude Desktop, Claude Code, Cursor, Windsurf, Cline, Gemini CLI), VS Code's
 * `servers`, Zed's `context_servers`, Codex' TOML, and the list of tools of the cmcp gateway. Every entry is reported, taken
 * or not. Never rejects for a text.
 * @param taken names that the catalog has already, for entries that would need another one.
 */
export async function importClientConfig(
  text: string,
  fileName: string,
  taken: Iterable<string> = [],
): Promise<ImportReport> {
  const names = new Set(taken);
  // Editors on Windows write a byte order mark.
  const plain = text.startsWith("\ufeff") ? text.slice(1) : text;
  if (fileName.toLowerCase().endsWith(".toml")) return importToml(plain, names);
  const document = readJsonDocument(plain, { comments: true });
  if (document.value === undefined) return { form: undefined, servers: [], notes: [], problems: document.problems };
  if (Array.isArray(document.value)) {
    return { form: "tool-list", problems: document.problems, ...importToolList(document, names) };
  }
  const place = places.find(({ path }) => document.textAt(path) !== undefined);
  if (place === undefined) {
    const known = "mcpServers, servers, mcp.servers, context_servers or a list of tools";
    return { form: undefined, servers: [], notes: [], problems: [document.problemAt([], `holds none of ${known}`)] };
  }
  return {
    form: place.form,
    servers: readEntries(entriesAt(document, place.path), names),
    notes: fileNotes(document.value),
    problems: document.problems,
  };
}

async function importToml(text: string, names: Set<string>): Promise<ImportReport> {
  const entries = await readCodexToml(text);
  if ("problem" in entries) return { form: undefined, servers: [], notes: [], problems: [entries.problem] };
  if (entries.length === 0) {
    const problem = { line: 1, column: 1, path: "", message: "holds no mcp_servers" };
    return { form: undefined, servers: [], notes: [], problems: [problem] };
  }
  return { form: "codex", servers: readEntries(entries, names), notes: [], problems: [] };
}

function readEntries(entries: readonly ClientEntry[], names: Set<string>): ImportedServer[] {
  return entries.map((entry) => {
    const server = readClientEntry(entry, names);
    if (server.server !== undefined) names.add(server.name);
    return server;
  });
}

function entriesAt(document: JsonDocument, path: DocumentPath): ClientEntry[] {
  const servers = path.reduce<unknown>((value, step) => memberOf(value, step), document.value);
  if (typeof servers !== "object" || servers === null) return [];
  return Object.entries(servers).map(([name, value]) => ({
    name,
    value,
    line: document.problemAt([...path, name], "", "key").line,
  }));
}

function fileNotes(value: unknown): ImportNote[] {
  const notes: ImportNote[] = [];
  if (memberOf(value, "inputs") !== undefined) {
    notes.push({ code: "PLACEHOLDER", message: "inputs are not taken: set the variables where the gateway starts" });
  }
  const projects = memberOf(value, "projects");
  const withServers = typeof projects === "object" && projects !== null ? Object.entries(projects) : [];
  for (const [path, project] of withServers) {
    const servers = memberOf(project, "mcpServers");
    if (typeof servers !== "object" || servers === null || Object.keys(servers).length === 0) continue;
    notes.push({
      code: "KEY_NOT_TAKEN",
      message: `servers of the project ${path} are not taken: import its .mcp.json`,
    });
  }
  return notes;
}

function memberOf(value: unknown, key: string | number): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  const members: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(value));
  return members[key];
}
