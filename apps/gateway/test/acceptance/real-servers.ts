/** The third-party servers that the gateway is compared on, with calls of each tool, prompt and resource they list. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
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
  /** `_meta` of the request. */
  readonly meta?: object;
  /** Asked for as a task, whose result, state and list are asked for next. */
  readonly task?: object;
  /** Only for a client that can do everything: the server does not list the tool to others. */
  readonly full?: true;
}

export interface RealServer {
  readonly name: string;
  readonly needs: readonly PartName[];
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly calls: readonly RealCall[];
  readonly prompts: readonly { readonly name: string; readonly arguments?: Readonly<Record<string, string>> }[];
  /** What is read after the calls: every listed one, and instances of the templates. */
  readonly resources: readonly string[];
  /** What is subscribed to before the calls. */
  readonly subscriptions?: readonly string[];
  /** The text of a line that the server sends by itself to a client that can do everything, soon after the handshake. */
  readonly asksAtOnce?: string;
}

/** What the servers of one table work on. */
export interface Workplace {
  /** The folder that is the filesystem server's, and the client's only root. */
  readonly folder: string;
  readonly memory: string;
  /** Puts both into the state in which each run begins, under the same paths, so that answers need no rewriting. */
  reset(): void;
  /** All that a run left behind: path and content. */
  left(): readonly (readonly [string, string])[];
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .sort();

export function workplaceIn(scratch: string): Workplace {
  const folder = join(scratch, "work");
  const memory = join(scratch, "memory", "memory.jsonl");
  const fixed = new Date("2026-01-02T03:04:05Z");
  const reset = (): void => {
    mkdirSync(folder, { recursive: true });
    mkdirSync(join(scratch, "memory"), { recursive: true });
    rmSync(memory, { force: true });
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, "a.txt"), "first line\nsecond line ≠ ascii\n");
    writeFileSync(join(folder, "b.json"), '{"big":12345678901234567890}');
    writeFileSync(join(folder, "c.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]));
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), fixed, fixed);
  };
  const left = (): readonly (readonly [string, string])[] =>
    [...filesIn(folder), ...filesIn(join(scratch, "memory"))].map((path) => [
      path,
      statSync(path).isFile() ? readFileSync(path, "latin1") : "(folder)",
    ]);
  return { folder, memory, reset, left };
}

const document = (name: string): string => `demo://resource/static/document/${name}.md`;

const everything: RealServer = {
  name: "everything",
  needs: [],
  command: "node",
  args: [npmServer("everything")],
  asksAtOnce: "Roots updated",
  subscriptions: [document("features")],
  calls: [
    { tool: "echo", arguments: { message: "grüße \u2028 \ud83d\ude80" } },
    { tool: "get-annotated-message", arguments: { messageType: "success", includeImage: true } },
    { tool: "get-env", arguments: {} },
    { tool: "get-resource-links", arguments: { count: 3 } },
    { tool: "get-resource-reference", arguments: { resourceType: "Text", resourceId: 1 } },
    { tool: "get-resource-reference", arguments: { resourceType: "Blob", resourceId: 2 } },
    { tool: "get-structured-content", arguments: { location: "Chicago" } },
    { tool: "get-sum", arguments: { a: 1.5, b: 2 } },
    { tool: "get-sum", arguments: { a: "no number", b: 2 } },
    { tool: "get-tiny-image", arguments: {} },
    {
      tool: "gzip-file-as-resource",
      arguments: { name: "x.gz", data: "data:text/plain,hello", outputType: "resource" },
    },
    {
      tool: "gzip-file-as-resource",
      arguments: { name: "y.gz", data: "data:text/plain,hello", outputType: "resourceLink" },
    },
    { tool: "trigger-long-running-operation", arguments: { duration: 0.2, steps: 2 } },
    {
      tool: "trigger-long-running-operation",
      arguments: { duration: 0.3, steps: 3 },
      meta: { progressToken: "steps" },
    },
    { tool: "toggle-simulated-logging", arguments: {} },
    { tool: "toggle-simulated-logging", arguments: {} },
    { tool: "toggle-subscriber-updates", arguments: {} },
    { tool: "toggle-subscriber-updates", arguments: {} },
    { tool: "simulate-research-query", arguments: { topic: "python", ambiguous: false } },
    { tool: "simulate-research-query", arguments: { topic: "python", ambiguous: true }, task: { ttl: 60_000 } },
    { tool: "get-roots-list", arguments: {}, full: true },
    { tool: "trigger-elicitation-request", arguments: {}, full: true },
    {
      tool: "trigger-url-elicitation",
      arguments: { url: "https://example.com/a", elicitationId: "fixed" },
      full: true,
    },
    {
      tool: "trigger-url-elicitation",
      arguments: { url: "https://example.com/b", elicitationId: "fixed", errorPath: true },
      full: true,
    },
    { tool: "trigger-sampling-request", arguments: { prompt: "hello", maxTokens: 5 }, full: true },
    { tool: "trigger-sampling-request-async", arguments: { prompt: "hello", maxTokens: 5 }, full: true },
    { tool: "trigger-elicitation-request-async", arguments: {}, full: true },
  ],
  prompts: [
    { name: "simple-prompt" },
    { name: "args-prompt", arguments: { city: "Paris", state: "Texas" } },
    { name: "args-prompt" },
    { name: "completable-prompt", arguments: { department: "Engineering", name: "Alice" } },
    { name: "resource-prompt", arguments: { resourceType: "Text", resourceId: "1" } },
    { name: "resource-prompt", arguments: { resourceType: "Blob", resourceId: "2" } },
  ],
  resources: [
    ...["architecture", "extension", "features", "how-it-works", "instructions", "startup", "structure"].map(document),
    "demo://resource/session/x.gz",
    "demo://resource/session/y.gz",
    "demo://resource/dynamic/text/3",
    "demo://resource/dynamic/blob/4",
    "demo://resource/dynamic/text/nothing",
  ],
};

const filesystem = (folder: string): RealServer => {
  const at = (...names: readonly string[]): string => join(folder, ...names);
  return {
    name: "filesystem",
    needs: [],
    command: "node",
    args: [npmServer("filesystem"), folder],
    asksAtOnce: "roots/list",
    calls: [
      { tool: "list_allowed_directories", arguments: {} },
      { tool: "read_file", arguments: { path: at("a.txt") } },
      { tool: "read_text_file", arguments: { path: at("a.txt"), head: 1 } },
      { tool: "read_media_file", arguments: { path: at("c.png") } },
      { tool: "read_multiple_files", arguments: { paths: [at("a.txt"), at("b.json")] } },
      { tool: "get_file_info", arguments: { path: at("b.json") } },
      { tool: "get_file_info", arguments: { path: at("missing") } },
      { tool: "write_file", arguments: { path: at("new.txt"), content: "x" } },
      {
        tool: "edit_file",
        arguments: { path: at("a.txt"), edits: [{ oldText: "first", newText: "1st" }], dryRun: true },
      },
      { tool: "edit_file", arguments: { path: at("a.txt"), edits: [{ oldText: "first", newText: "1st" }] } },
      { tool: "create_directory", arguments: { path: at("sub") } },
      { tool: "move_file", arguments: { source: at("new.txt"), destination: at("sub", "moved.txt") } },
      { tool: "move_file", arguments: { source: at("missing"), destination: at("m2") } },
      { tool: "list_directory", arguments: { path: folder } },
      { tool: "list_directory_with_sizes", arguments: { path: folder } },
      { tool: "directory_tree", arguments: { path: folder } },
      { tool: "search_files", arguments: { path: folder, pattern: "**/*.txt" } },
      { tool: "read_file", arguments: { path: "/etc/hostname" } },
    ],
    prompts: [],
    resources: [],
  };
};

const ann = { name: "Ann", entityType: "person", observations: ["writes", "reads"] };
const shop = { name: "Shop", entityType: "place", observations: ["sells ≠ books"] };
const worksAt = { from: "Ann", to: "Shop", relationType: "works at" };
const visits = { from: "Ann", to: "Shop", relationType: "visits" };

const memory = (file: string): RealServer => ({
  name: "memory",
  needs: [],
  command: "node",
  args: [npmServer("memory")],
  env: { MEMORY_FILE_PATH: file },
  subscriptions: ["memory://knowledge-graph"],
  calls: [
    { tool: "read_graph", arguments: {} },
    { tool: "create_entities", arguments: { entities: [ann, shop, { ...ann, name: "Bob" }] } },
    { tool: "create_entities", arguments: { entities: [ann] } },
    { tool: "create_relations", arguments: { relations: [worksAt, visits] } },
    { tool: "add_observations", arguments: { observations: [{ entityName: "Ann", contents: ["sings"] }] } },
    { tool: "add_observations", arguments: { observations: [{ entityName: "nobody", contents: ["x"] }] } },
    { tool: "read_graph", arguments: {} },
    { tool: "search_nodes", arguments: { query: "books" } },
    { tool: "open_nodes", arguments: { names: ["Ann", "nobody"] } },
    { tool: "delete_observations", arguments: { deletions: [{ entityName: "Ann", observations: ["writes"] }] } },
    { tool: "delete_relations", arguments: { relations: [visits] } },
    { tool: "delete_entities", arguments: { entityNames: ["Bob"] } },
    { tool: "read_graph", arguments: {} },
  ],
  prompts: [],
  resources: ["memory://knowledge-graph"],
});

const pythonServers: readonly RealServer[] = [
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

/** Every server, on one workplace. */
export function realServers(workplace: Workplace): readonly RealServer[] {
  return [everything, filesystem(workplace.folder), memory(workplace.memory), ...pythonServers];
}
