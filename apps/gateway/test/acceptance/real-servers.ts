/** The third-party servers that the gateway is compared on, with one call for each tool that answers alike twice. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PartName, pythonOf } from "../../../../fixtures/parts.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const npmServer = (name: string): string =>
  join(root, "node_modules", "@modelcontextprotocol", `server-${name}`, "dist", "index.js");
const ownServer = (name: string): string => fileURLToPath(new URL(`servers/${name}`, import.meta.url));

export interface RealCall {
  readonly tool: string;
  readonly arguments: object;
  /** Takes out of an answer what differs between two runs of the server itself. */
  readonly settle?: (line: string) => string;
}

/** The clock in an answer's text. */
export const withoutClock = (line: string): string => line.replaceAll(/\d+:\d+:\d+ [AP]M/g, "(time)");
/** Variables in the order in which the process got them, which nobody promises. */
const withSortedLines = (line: string): string =>
  line.replace(/\{\\n.*\\n\}/, (text) => text.replaceAll(",\\n", "\\n").split("\\n").sort().join("\\n"));

export interface RealServer {
  readonly name: string;
  readonly needs: readonly PartName[];
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly calls: readonly RealCall[];
  /** Tools that are not called, each with the reason. */
  readonly notCalled?: Readonly<Record<string, string>>;
  readonly prompts: readonly { readonly name: string; readonly arguments?: Readonly<Record<string, string>> }[];
  readonly resources: readonly string[];
}

/** Builds the table on fresh folders; `folder` is what the filesystem server may read. */
export function realServers(): readonly RealServer[] {
  const folder = mkdtempSync(join(tmpdir(), "berth-parity-"));
  writeFileSync(join(folder, "a.txt"), "first line\nsecond line ≠ ascii\n");
  writeFileSync(join(folder, "b.json"), '{"big":12345678901234567890}');
  const file = join(folder, "a.txt");
  const other = join(folder, "b.json");
  return [
    {
      name: "everything",
      needs: [],
      command: "node",
      args: [npmServer("everything")],
      calls: [
        { tool: "echo", arguments: { message: "grüße \u2028 \ud83d\ude80" } },
        { tool: "get-annotated-message", arguments: { messageType: "success", includeImage: true } },
        { tool: "get-env", arguments: {}, settle: withSortedLines },
        { tool: "get-resource-links", arguments: { count: 3 } },
        {
          tool: "get-resource-reference",
          arguments: { resourceType: "Text", resourceId: 1 },
          settle: withoutClock,
        },
        { tool: "get-structured-content", arguments: { location: "Chicago" } },
        { tool: "get-sum", arguments: { a: 1.5, b: 2 } },
        { tool: "get-sum", arguments: { a: "no number", b: 2 } },
        { tool: "get-tiny-image", arguments: {} },
        {
          tool: "gzip-file-as-resource",
          arguments: { name: "x.gz", data: "data:text/plain,hello", outputType: "resource" },
        },
        { tool: "trigger-long-running-operation", arguments: { duration: 0.2, steps: 2 } },
        { tool: "toggle-simulated-logging", arguments: {} },
        { tool: "toggle-simulated-logging", arguments: {} },
        { tool: "toggle-subscriber-updates", arguments: {} },
        { tool: "toggle-subscriber-updates", arguments: {} },
      ],
      notCalled: { "simulate-research-query": "answers only as a task, which needs task support in the client" },
      prompts: [
        { name: "simple-prompt" },
        { name: "args-prompt", arguments: { city: "Paris", state: "Texas" } },
        { name: "completable-prompt", arguments: { department: "Engineering", name: "Alice" } },
        { name: "resource-prompt", arguments: { resourceType: "Text", resourceId: "1" } },
      ],
      resources: ["demo://resource/static/document/architecture.md", "demo://resource/static/document/features.md"],
    },
    {
      name: "filesystem",
      needs: [],
      command: "node",
      args: [npmServer("filesystem"), folder],
      calls: [
        { tool: "read_file", arguments: { path: file } },
        { tool: "read_text_file", arguments: { path: file, head: 1 } },
        { tool: "read_media_file", arguments: { path: file } },
        { tool: "read_multiple_files", arguments: { paths: [file, other] } },
        { tool: "write_file", arguments: { path: join(folder, "new.txt"), content: "x" } },
        { tool: "edit_file", arguments: { path: file, edits: [{ oldText: "first", newText: "1st" }], dryRun: true } },
        { tool: "create_directory", arguments: { path: join(folder, "sub") } },
        { tool: "list_directory", arguments: { path: folder } },
        { tool: "list_directory_with_sizes", arguments: { path: folder } },
        { tool: "directory_tree", arguments: { path: folder } },
        { tool: "move_file", arguments: { source: join(folder, "missing"), destination: join(folder, "m2") } },
        { tool: "search_files", arguments: { path: folder, pattern: "*.txt" } },
        { tool: "get_file_info", arguments: { path: join(folder, "missing") } },
        { tool: "list_allowed_directories", arguments: {} },
        { tool: "read_file", arguments: { path: "/etc/hostname" } },
      ],
      prompts: [],
      resources: [],
    },
    {
      name: "memory",
      needs: [],
      command: "node",
      args: [npmServer("memory")],
      env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
      calls: [
        { tool: "create_entities", arguments: { entities: [] } },
        { tool: "create_relations", arguments: { relations: [] } },
        {
          tool: "add_observations",
          arguments: { observations: [{ entityName: "nobody", contents: ["x"] }] },
        },
        { tool: "delete_entities", arguments: { entityNames: ["nobody"] } },
        { tool: "delete_observations", arguments: { deletions: [] } },
        { tool: "delete_relations", arguments: { relations: [] } },
        { tool: "read_graph", arguments: {} },
        { tool: "search_nodes", arguments: { query: "x" } },
        { tool: "open_nodes", arguments: { names: ["nobody"] } },
      ],
      prompts: [],
      resources: ["memory://knowledge-graph"],
    },
    {
      name: "python-mcp",
      needs: ["python-mcp"],
      command: pythonOf("mcp"),
      args: [ownServer("python-mcp.py")],
      calls: [
        { tool: "add", arguments: { a: 2, b: 3 } },
        { tool: "add", arguments: { a: "x" } },
        { tool: "shout", arguments: { text: "grüße" } },
      ],
      prompts: [{ name: "review", arguments: { code: "x = 1" } }],
      resources: ["notes://all", "notes://today", "notes-unknown://x"],
    },
    {
      name: "fastmcp",
      needs: ["fastmcp"],
      command: pythonOf("fastmcp"),
      args: [ownServer("fastmcp-server.py")],
      calls: [
        { tool: "multiply", arguments: { a: 2, b: 3 } },
        { tool: "multiply", arguments: {} },
        { tool: "reverse", arguments: { text: "grüße" } },
      ],
      prompts: [{ name: "summarise", arguments: { text: "x" } }],
      resources: ["config://version", "users://ann/profile"],
    },
  ];
}
