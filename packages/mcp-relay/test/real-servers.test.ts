import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listedEnvironment, openChild } from "@berth/stdio-transport";
import { createMemoryPair } from "@berth/stdio-transport/memory";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRelaySession, inspectServer, type ServerPolicy, type UpstreamConnection } from "../src/index.js";
import { createTestClient, type TestClient } from "./support/relay-harness.js";
import { createWireEnd, type Json } from "./support/wire-end.js";

const entryOf = (name: string): string => {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return join(manifest, "..", "dist", "index.js");
};
let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "berth-relay-real-")));
  await writeFile(join(folder, "note.txt"), "grüße\n");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const open = async (name: string): Promise<UpstreamConnection> => {
  const args = name === "everything" ? ["stdio"] : name === "filesystem" ? [folder] : [];
  const env = { ...listedEnvironment(process.env), MEMORY_FILE_PATH: join(folder, "memory.jsonl") };
  const child = await openChild({ file: process.execPath, args: [entryOf(name), ...args], env });
  return {
    transport: child.transport,
    evidence: { evidence: "spawn-measured" },
    exited: child.exited,
    close: () => child.close(),
  };
};

interface Path extends AsyncDisposable {
  readonly client: TestClient;
  readonly events: unknown[];
}

const direct = async (name: string): Promise<Path> => {
  const connection = await open(name);
  const client = createTestClient(createWireEnd(connection.transport));
  return { client, events: [], [Symbol.asyncDispose]: () => connection.close() };
};

const relayed = async (name: string, policy: Omit<ServerPolicy, "name">): Promise<Path> => {
  const [near, far] = createMemoryPair();
  const events: unknown[] = [];
  const session = createRelaySession({
    downstream: near,
    servers: [{ name, ...policy }],
    names: "plain",
    passThroughInitialize: true,
    serverInfo: { name: "relay", version: "0" },
    openUpstream: () => open(name),
    record(event) {
      events.push(event);
      return undefined;
    },
  });
  return { client: createTestClient(createWireEnd(far)), events, [Symbol.asyncDispose]: () => session.close() };
};

/** Everything that one path answers, as text with the id put aside. */
const answersOf = async ({ client }: Path, calls: readonly (readonly [string, object])[]): Promise<string[]> => {
  const capabilities = { roots: {}, sampling: {}, elicitation: {} };
  const answers = [(await client.initialize({ capabilities })).text];
  for (const method of ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]) {
    answers.push((await client.request(method, {})).text);
  }
  for (const [method, params] of calls) answers.push((await client.request(method, params)).text);
  return answers.map((text) => text.replace(/"id":"t\d+"/, '"id":0'));
};

const callsOf: Readonly<Record<string, () => readonly (readonly [string, { readonly [key: string]: Json }])[]>> = {
  everything: () => [
    ["tools/call", { name: "echo", arguments: { message: "grüße \u{1f680}" } }],
    ["tools/call", { name: "get-sum", arguments: { a: 1.5, b: 2 } }],
    ["tools/call", { name: "get-tiny-image", arguments: {} }],
    ["tools/call", { name: "get-structured-content", arguments: { location: "New York" } }],
    ["tools/call", { name: "echo", arguments: {} }],
    ["prompts/get", { name: "simple-prompt" }],
    ["resources/read", { uri: "demo://resource/static/document/architecture.md" }],
    ["resources/read", { uri: "nowhere://x" }],
    [
      "completion/complete",
      { ref: { type: "ref/prompt", name: "completable-prompt" }, argument: { name: "department", value: "S" } },
    ],
    ["no/such/method", {}],
  ],
  filesystem: () => [
    ["tools/call", { name: "list_allowed_directories", arguments: {} }],
    ["tools/call", { name: "read_text_file", arguments: { path: join(folder, "note.txt") } }],
    ["tools/call", { name: "read_text_file", arguments: { path: "/etc/passwd" } }],
    ["tools/call", { name: "list_directory", arguments: { path: folder } }],
  ],
  memory: () => [
    ["tools/call", { name: "read_graph", arguments: {} }],
    ["tools/call", { name: "search_nodes", arguments: { query: "x" } }],
  ],
};

describe.each(["everything", "filesystem", "memory"])("server-%s", (name) => {
  it("answers through the relay, pinned, as it does directly: every frame to the byte but for its id", async () => {
    const server = await open(name);
    const inspection = await inspectServer(server, { server: name, clientInfo: { name: "pin", version: "0" } });
    const pins = (list: typeof inspection.tools) =>
      Object.fromEntries(list.map(({ name: key, digest, definition }) => [key, { digest, definition }]));
    expect(inspection.problems).toEqual([]);
    expect(inspection.tools.length).toBeGreaterThan(5);
    const tools = {
      pinned: pins(inspection.tools),
      pinnedPrompts: pins(inspection.prompts),
      pinnedResourceTemplates: pins(inspection.resourceTemplates),
    };
    await using plain = await direct(name);
    await using through = await relayed(name, { tools, pinnedInitialize: inspection.initialize });
    const calls = (callsOf[name] ?? (() => []))();
    const [expected, actual] = [await answersOf(plain, calls), await answersOf(through, calls)];
    expect(actual).toEqual(expected);
  });
});
