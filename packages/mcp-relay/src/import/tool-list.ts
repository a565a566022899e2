import type { JsonDocument } from "../catalog-document.js";
import { asServer } from "./client-entry.js";
import type { ImportedServer, ImportNote } from "./report.js";
import { catalogName } from "./server-name.js";
import { toolListDigest } from "./tool-list-canonical.js";

type Members = Readonly<Record<string, unknown>>;

interface ToolEntry {
  readonly index: number;
  readonly line: number;
  readonly toolName: string;
  readonly server: Members;
}

/**
 * The list of tools of the cmcp gateway, one entry a tool with its server inside. Entries with the same server identity
 * (command, arguments, target and digest, or address and fingerprint; never the label) become one server that allows these
 * tools. Their digests of definitions cover less than ours and are checked, but not taken as pins.
 */
export function importToolList(
  document: JsonDocument,
  names: Set<string>,
): { servers: ImportedServer[]; notes: ImportNote[] } {
  const servers: ImportedServer[] = [];
  const groups = new Map<string, ToolEntry[]>();
  const list = Array.isArray(document.value) ? document.value : [];
  const seen = new Set<string>();
  for (const [index, value] of list.entries()) {
    const tool = readTool(document, value, index, seen);
    if ("notes" in tool) servers.push(tool);
    else groups.set(identity(tool.server), [...(groups.get(identity(tool.server)) ?? []), tool]);
  }
  for (const tools of groups.values()) {
    const server = readServer(tools, names);
    if (server.server !== undefined) names.add(server.name);
    servers.push(server);
  }
  return { servers, notes: list.length === 0 ? [] : [environmentNote] };
}

const environmentNote: ImportNote = {
  code: "KEY_NOT_TAKEN",
  message:
    "sensitivity, compliance and approval fields have no counterpart; servers no longer get the whole environment: name what they need under inheritEnv",
};

function readTool(
  document: JsonDocument,
  value: unknown,
  index: number,
  seen: Set<string>,
): ToolEntry | ImportedServer {
  const { line } = document.problemAt([index], "");
  const toolName = isMembers(value) ? value["tool_name"] : undefined;
  const refuse = (code: ImportNote["code"], message: string): ImportedServer => ({
    sourceName: typeof toolName === "string" ? toolName : `entry ${index}`,
    name: "",
    line,
    notes: [{ code, message }],
  });
  if (!isMembers(value) || typeof toolName !== "string" || toolName === "")
    return refuse("NOT_VALID", "tool_name is missing");
  if (seen.has(toolName)) return refuse("NOT_VALID", "this tool_name occurs twice");
  seen.add(toolName);
  const { server, approved_definition: definition, definition_hash: stated } = value;
  if (!isMembers(server)) return refuse("NOT_VALID", "server is missing");
  if (
    !isMembers(definition) ||
    !isMembers(definition["input_schema"]) ||
    typeof definition["description"] !== "string"
  ) {
    return refuse("NOT_VALID", "approved_definition needs description and input_schema");
  }
  if (toolListDigest(document.textAt([index, "approved_definition"]) ?? "") !== stated) {
    return refuse(
      "DEFINITION_MISMATCH",
      "definition_hash is not the digest of approved_definition, so the tool is not taken",
    );
  }
  return { index, line, toolName, server };
}

function identity(server: Members): string {
  const spawn = isMembers(server["spawn"]) ? server["spawn"] : {};
  const { command, args, measure_target: target, binary_digest: digest } = spawn;
  return JSON.stringify([
    server["transport"],
    command,
    args ?? [],
    target,
    digest,
    server["url"],
    server["tls_fingerprint"],
  ]);
}

function readServer(tools: readonly ToolEntry[], names: ReadonlySet<string>): ImportedServer {
  const [first] = tools;
  if (first === undefined) throw new Error("a group of tools is never empty");
  const notes: ImportNote[] = [];
  const label = first.server["display_name"];
  const sourceName = typeof label === "string" ? label : "server";
  const name = catalogName(sourceName, names);
  if (name !== sourceName) notes.push({ code: "RENAMED", message: `"${sourceName}" is called ${name} in the catalog` });
  const candidate = { ...serverTerms(first.server, notes), tools: { allow: tools.map((tool) => tool.toolName) } };
  return { sourceName, name, line: first.line, server: asServer(name, candidate, notes), notes };
}

function serverTerms(server: Members, notes: ImportNote[]): Members {
  for (const key of ["spiffe_id", "provenance"].filter((key) => server[key] !== undefined && server[key] !== null)) {
    notes.push({ code: "KEY_NOT_TAKEN", message: `${key} is not taken` });
  }
  if (server["transport"] !== "stdio") return networkTerms(server, notes);
  const spawn = isMembers(server["spawn"]) ? server["spawn"] : {};
  const { command, args, measure_target: measureTarget, binary_digest: digest } = spawn;
  notes.push({
    code: "VALUE_CHANGED",
    message: "definitions are not taken as pins: run pin to accept what the server lists",
  });
  return { transport: "stdio", spawn: present({ command, args, measureTarget, digest }) };
}

function networkTerms(server: Members, notes: ImportNote[]): Members {
  const { transport, url, tls_fingerprint: fingerprint } = server;
  notes.push({ code: "NETWORK_SERVER", message: "is a network server: only stdio servers are served by this version" });
  // All "A" was their sign for an unpinned development server.
  const isPlaceholder = typeof fingerprint === "string" && /^SHA256:A{43}=?$/u.test(fingerprint);
  return present({ transport, url, tlsFingerprint: isPlaceholder ? "unpinned" : fingerprint });
}

function present(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
