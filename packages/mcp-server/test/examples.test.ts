import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server as bank } from "../examples/bank.js";
import { modernMetaKeys } from "../src/protocol.js";

const example = (name: string): string => fileURLToPath(new URL(`../examples/${name}`, import.meta.url));
const modes = ["legacy", "auto", { pin: "2026-07-28" }] as const;
const clientFor = (mode: (typeof modes)[number]): Client =>
  new Client({ name: "example-client", version: "1.0.0" }, { versionNegotiation: { mode } });

describe.each(modes)("a client of the official SDK in mode %j", (mode) => {
  async function over<T>(name: string, use: (client: Client) => Promise<T>): Promise<T> {
    const client = clientFor(mode);
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [example(name)], stderr: "ignore" }),
    );
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  }

  it("uses quickstart.js", async () => {
    await over("quickstart.js", async (client) => {
      expect((await client.listTools()).tools).toMatchObject([{ name: "greet", description: "Greets somebody" }]);
      const { content } = await client.callTool({ name: "greet", arguments: { name: "Ada" } });
      expect(content).toEqual([{ type: "text", text: "Hello, Ada!" }]);
    });
  });

  it("uses zod.js: defaults and changes of the schema reach the handler, and what it refuses does not", async () => {
    await over("zod.js", async (client) => {
      const greet = async (given: Record<string, unknown>): Promise<unknown> =>
        client.callTool({ name: "greet", arguments: given });
      expect(await greet({ name: " Ada ", times: 2 })).toMatchObject({
        content: [{ text: "Hello, Ada! Hello, Ada!" }],
      });
      expect(await greet({ name: "Ada" })).toMatchObject({ content: [{ text: "Hello, Ada!" }] });
      for (const wrong of [{ name: " " }, { name: "Ada", times: 4 }, {}]) {
        expect(await greet(wrong)).toMatchObject({ isError: true });
      }
    });
  });

  it("uses notes.js: what a tool writes is listed, read, proposed and prompted", async () => {
    await over("notes.js", async (client) => {
      const write = async (given: Record<string, unknown>): Promise<unknown> =>
        client.callTool({ name: "write", arguments: given });
      expect(await write({ name: "../x", text: "" })).toMatchObject({ isError: true });
      expect(await write({ name: "tea", text: "Green." })).toMatchObject({ structuredContent: { length: 6 } });
      expect(await client.readResource({ uri: "note:///index" })).toMatchObject({ contents: [{ text: "today\ntea" }] });
      const note = { uri: "note:///notes/tea", mimeType: "text/plain", text: "Green." };
      expect(await client.readResource({ uri: note.uri })).toMatchObject({ contents: [note] });
      await expect(client.readResource({ uri: "note:///notes/none" })).rejects.toThrow("not found");
      const ref = { type: "ref/resource", uri: "note:///notes/{name}" } as const;
      const proposed = await client.complete({ ref, argument: { name: "name", value: "te" } });
      expect(proposed.completion.values).toEqual(["tea"]);
      const { messages } = await client.getPrompt({ name: "summary", arguments: { note: "tea" } });
      expect(messages).toMatchObject([{ role: "user", content: { text: "Summarize this note: Green." } }]);
    });
  });

  it("uses json-schema.js: both schemas are known to it, and both hold", async () => {
    await over("json-schema.js", async (client) => {
      const [tool] = (await client.listTools()).tools;
      expect(tool).toMatchObject({ name: "convert", outputSchema: { required: ["amount", "currency"] } });
      const convert = async (given: Record<string, unknown>): Promise<unknown> =>
        client.callTool({ name: "convert", arguments: given });
      const from = { amount: 10, currency: "EUR" };
      expect(await convert({ from, rate: 1.5 })).toMatchObject({ structuredContent: { amount: 15, currency: "USD" } });
      for (const wrong of [
        { from, rate: 0 },
        { from: { amount: 10, currency: "GBP" }, rate: 1 },
        { from, rate: 1, more: 1 },
      ]) {
        expect(await convert(wrong)).toMatchObject({ isError: true });
      }
    });
  });
});

describe("bank.ts", () => {
  it.each([
    { content: { yes: true }, state: "done" },
    { content: { yes: false }, state: "refused" },
  ])("asks the user, and does what $content says", async ({ content, state }) => {
    const connection = bank.openConnection({ send: () => undefined });
    const principal = { id: "ada", scopes: ["transfer"] };
    const call = async (more: object): Promise<unknown> => {
      const _meta = {
        [modernMetaKeys.protocolVersion]: "2026-07-28",
        [modernMetaKeys.clientCapabilities]: { elicitation: {} },
      };
      const params = { name: "transfer", arguments: { to: "grace", amount: 5 }, _meta, ...more };
      const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
      return Object(await bank.handle(message, { principal, connection })).result;
    };
    const question = Object(await call({}));
    expect(question).toMatchObject({
      resultType: "input_required",
      inputRequests: { sure: { params: { message: "Give grace 5 of ada's?" } } },
    });
    const { requestState } = question;
    const answer = await call({ requestState, inputResponses: { sure: { action: "accept", content } } });
    expect(answer).toMatchObject({ structuredContent: { state } });
  });
});

describe("bearer-http.js", () => {
  let folder: string;
  let file: string;
  let child: ChildProcess;
  let url: URL;
  const makeToken = (name: string): string =>
    spawnSync(process.execPath, [example("bearer-http.js"), file, name], { encoding: "utf8" }).stdout.trim();
  let token: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-example-"));
    file = join(folder, "tokens.jsonl");
    token = makeToken("ada");
    child = spawn(process.execPath, [example("bearer-http.js"), file], { stdio: ["ignore", "ignore", "pipe"] });
    if (child.stderr === null) throw new Error("no standard error");
    const [line] = await once(createInterface({ input: child.stderr }), "line");
    url = new URL(String(line));
  });
  afterAll(async () => {
    child.kill();
    await once(child, "exit");
    await rm(folder, { recursive: true });
  });

  async function greet(authorization: string, mode: (typeof modes)[number] = "auto"): Promise<unknown> {
    const client = clientFor(mode);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization } } }));
    try {
      return await client.callTool({ name: "greet", arguments: {} });
    } finally {
      await client.close();
    }
  }

  it.each(modes)("greets who has a token, by name, in mode %j", async (mode) => {
    expect(await greet(`Bearer ${token}`, mode)).toMatchObject({ content: [{ text: "Hello, ada!" }] });
  });

  it("knows a token that was made while it runs, and each client by its own", async () => {
    const other = makeToken("grace");
    // What is known of the file may be a second old.
    const deadline = AbortSignal.timeout(10_000);
    while ((await fetch(url, { headers: { authorization: `Bearer ${other}` } })).status === 401)
      deadline.throwIfAborted();
    const answers = await Promise.all([greet(`Bearer ${other}`), greet(`Bearer ${token}`)]);
    expect(answers).toMatchObject([{ content: [{ text: "Hello, grace!" }] }, { content: [{ text: "Hello, ada!" }] }]);
  });

  it("lets nobody else in, and its file holds no token and is nobody else's to read", async () => {
    await expect(greet("Bearer nonsense")).rejects.toThrow();
    const answer = await fetch(url, { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="mcp"']);
    expect(await readFile(file, "utf8")).not.toContain(token.slice(10));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("ends when it is told to", async () => {
    const own = spawn(process.execPath, [example("bearer-http.js"), file], { stdio: ["ignore", "ignore", "pipe"] });
    await once(own.stderr, "data");
    own.kill("SIGTERM");
    expect(await once(own, "exit")).toEqual([0, null]);
  });
});
