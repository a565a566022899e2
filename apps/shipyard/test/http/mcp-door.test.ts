import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { waitsForGo } from "../cells.js";
import { type McpClient, openMcp } from "./support/mcp-client.js";
import { type Served, serve } from "./support/served.js";

let served: Served;
let client: McpClient;
beforeAll(async () => {
  served = await serve({ doors: { limits: { heartbeatMs: 50 } } });
  client = await openMcp(served);
});
afterEach(async () => {
  for (const { id } of served.sessions.list("local")) await served.sessions.get("local", id).stop();
});
afterAll(() => served[Symbol.asyncDispose]());

const textOf = (answer: { readonly result?: { readonly content?: readonly { readonly text: string }[] } }): string =>
  answer.result?.content?.[0]?.text ?? "";

describe("the handshake", () => {
  it.each(["2025-03-26", "2025-06-18", "2025-11-25"])("settles on %s, which was asked for", async (revision) => {
    const { sessionId, revision: settled } = await openMcp(served, revision);
    expect(settled).toBe(revision);
    expect(sessionId).toMatch(/^[\w-]{32}$/);
  });

  it("refuses who does not read streams with 406, an unknown session with 404, none with 400, what is no JSON with 400", async () => {
    const post = async (body: string, headers: Record<string, string> = {}) => {
      const all = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
      const response = await served.send("/mcp", { method: "POST", body, headers: all });
      const { error } = JSON.parse(await response.text());
      return [response.status, error.code];
    };
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    expect(await post(ping, { accept: "application/json" })).toEqual([406, -32600]);
    expect(await post(ping)).toEqual([400, -32600]);
    expect(await post(ping, { "mcp-session-id": "0".repeat(32) })).toEqual([404, -32600]);
    expect(await post("{")).toEqual([400, -32700]);
  });

  it("serves the era without handshake at the same place", async () => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const params = { name: "execute_python_code", arguments: { command: "20 + 1" }, _meta: meta };
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "execute_python_code",
    };
    const answer = await served.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers);
    expect(answer.json.result).toMatchObject({ structuredContent: { result: "21" }, resultType: "complete" });
  });
});

describe("the tools", () => {
  it("are four, each with the schemas that the original's clients assert", async () => {
    const { result } = await client.request("tools/list");
    const tools = new Map(result.tools.map((tool: { name: string }) => [tool.name, tool]));
    expect([...tools.keys()].sort()).toEqual([
      "execute_python_code",
      "list_python_sessions",
      "start_python_session",
      "stop_python_session",
    ]);
    const id = { anyOf: [{ type: "string" }, { type: "null" }], default: null, title: "Session Id" };
    const text = (title: string) => ({ type: "string", title });
    const session = {
      type: "object",
      properties: { session_id: text("Session Id"), status: text("Status"), created_at: text("Created At") },
      required: ["session_id", "status", "created_at"],
    };
    expect(tools.get("execute_python_code")).toMatchObject({
      inputSchema: { type: "object", properties: { command: text("Command"), session_id: id }, required: ["command"] },
      outputSchema: { type: "object", properties: { result: text("Result") }, required: ["result"] },
    });
    expect(tools.get("start_python_session")).toMatchObject({
      inputSchema: { type: "object", properties: { session_id: id } },
      outputSchema: session,
    });
    expect(tools.get("stop_python_session")).toMatchObject({
      inputSchema: { properties: { session_id: text("Session Id") }, required: ["session_id"] },
      outputSchema: session,
    });
    expect(tools.get("list_python_sessions")).toMatchObject({
      inputSchema: { type: "object", properties: {} },
      outputSchema: { properties: { result: { type: "array", items: session } }, required: ["result"] },
    });
  });

  it("an unknown tool is a protocol error, wrong arguments are a tool error", async () => {
    const unknown = await client.call("navigate_and_get_all_visible_text", { url: "https://example.com" });
    expect(unknown.error).toMatchObject({ code: -32602 });
    const wrong = await client.call("execute_python_code", { command: 5 });
    expect(wrong.result).toMatchObject({ isError: true });
    expect(textOf(wrong)).not.toBe("");
  });

  it("a session starts, keeps its variables, is listed, and stops", async () => {
    const started = await client.call("start_python_session", { session_id: "lab" });
    const object = { session_id: "lab", status: "active", created_at: expect.stringMatching(/^\d{4}-.*Z$/) };
    expect(started.result).toMatchObject({ isError: false, structuredContent: object });
    expect(textOf(started)).toBe(JSON.stringify(started.result.structuredContent, undefined, 2));
    await client.call("execute_python_code", { command: "x = 41", session_id: "lab" });
    const value = await client.call("execute_python_code", { command: "x + 1", session_id: "lab" });
    expect(value.result).toEqual({
      content: [{ type: "text", text: "42" }],
      structuredContent: { result: "42" },
      isError: false,
    });
    const listed = await client.call("list_python_sessions", {});
    expect(listed.result.structuredContent).toEqual({ result: [object] });
    expect(listed.result.content).toHaveLength(1);
    const stopped = await client.call("stop_python_session", { session_id: "lab" });
    expect(stopped.result.structuredContent).toEqual({ ...object, status: "stopped" });
    expect((await client.call("list_python_sessions", {})).result).toMatchObject({
      content: [],
      structuredContent: { result: [] },
    });
  });

  it("a session outlives the MCP session that started it", async () => {
    const first = await openMcp(served);
    await first.call("start_python_session", { session_id: "lab" });
    await first.call("execute_python_code", { command: "x = 41", session_id: "lab" });
    const headers = { "mcp-session-id": first.sessionId };
    expect((await served.send("/mcp", { method: "DELETE", headers })).status).toBe(204);
    const ping = { jsonrpc: "2.0", id: 9, method: "ping" };
    const accept = { accept: "application/json, text/event-stream" };
    expect((await served.post("/mcp", ping, { ...headers, ...accept })).status).toBe(404);
    const next = await openMcp(served);
    const value = await next.call("execute_python_code", { command: "x + 1", session_id: "lab" });
    expect(value.result.structuredContent.result).toBe("42");
    expect((await served.get("/v1/sessions/session?session_id=lab")).json.status).toBe("active");
  });

  it("a picture stands behind the text, with its kind", async () => {
    const command = "class Picture:\n  def _repr_png_(self): return b'\\x89PNG'\nprint('before')\nPicture()";
    const { result } = await client.call("execute_python_code", { command });
    expect(result.content[0]).toMatchObject({ type: "text", text: expect.stringContaining("before") });
    const data = Buffer.from("\x89PNG", "latin1").toString("base64");
    expect(result.content[1]).toMatchObject({ type: "image", mimeType: "image/png", data });
  });

  it.each([{}, { session_id: null }, { session_id: "" }])("an id is made up for %j", async (args) => {
    const { result } = await client.call("start_python_session", args);
    expect(result.structuredContent.session_id).toMatch(/^session_[0-9a-f]{12}$/);
  });

  it("refusals of sessions are tool errors that say why", async () => {
    for (const session_id of ["a", "b", "c", "d", "e"]) await client.call("start_python_session", { session_id });
    const cases = [
      ["start_python_session", { session_id: "f" }, "no more than 5 sessions"],
      ["start_python_session", { session_id: "a" }, "there is a session 'a'"],
      ["start_python_session", { session_id: "a b" }, "a session id has 1 to 64"],
      ["stop_python_session", { session_id: "nope" }, "not found"],
    ] as const;
    for (const [name, args, reason] of cases) {
      const { result } = await client.call(name, args);
      expect(result).toMatchObject({ isError: true, content: [{ type: "text" }] });
      expect(result.structuredContent).toBeUndefined();
      expect(result.content[0].text).toContain(reason);
    }
  });

  it("code that raises is no error of the protocol: prefix, traceback without colours, then what was printed before", async () => {
    const { result } = await client.call("execute_python_code", { command: "print('before')\n1/0" });
    expect(result.isError).toBe(false);
    expect(result.structuredContent.result).toMatch(
      /^Error: Execution Error:\n[\s\S]*ZeroDivisionError[\s\S]*before\n$/,
    );
    expect(result.structuredContent.result).not.toContain("\u001b");
    const printed = await client.call("execute_python_code", { command: "print('Error: not one')" });
    expect(printed.result.structuredContent.result).toBe("Error: not one\n");
    const silent = await client.call("execute_python_code", { command: "pass" });
    expect(silent.result.structuredContent.result).toBe("[Execution successful with no output]");
  });

  it("code for a session that is not there says so without an error of the protocol; a dead one says how it ended", async () => {
    const none = await client.call("execute_python_code", { command: "1", session_id: "nope" });
    expect(none.result).toMatchObject({
      isError: false,
      structuredContent: { result: "Error: Session 'nope' not found." },
    });
    await client.call("start_python_session", { session_id: "dying" });
    const dying = await client.call("execute_python_code", { command: "import os; os._exit(7)", session_id: "dying" });
    expect(dying.result.structuredContent.result).toMatch(/^Error: The Python process ended/);
    const dead = await client.call("execute_python_code", { command: "1", session_id: "dying" });
    expect(dead.result.structuredContent.result).toMatch(/^Error: Session 'dying' not found\. It ended: exit/);
    expect((await client.call("list_python_sessions", {})).result.structuredContent).toEqual({ result: [] });
    expect((await client.call("start_python_session", { session_id: "dying" })).result.isError).toBe(false);
  });

  it("a key that is no string is refused: left out, the call might run twice", async () => {
    const meta = { "dev.berth/idempotency-key": 7 };
    const { result } = await client.call("execute_python_code", { command: "1" }, meta);
    expect(result).toMatchObject({ isError: true });
  });

  it("the same call with the same key in _meta runs once", async () => {
    const meta = { "dev.berth/idempotency-key": "once" };
    const call = { command: "import os; print(os.urandom(8).hex())" };
    const first = await client.call("execute_python_code", call, meta);
    expect((await client.call("execute_python_code", call, meta)).result).toEqual(first.result);
  });
});

describe("progress", () => {
  const begin = (session_id: string) => client.call("start_python_session", { session_id });
  /** Lets code go on that waits for it. */
  const go = (id: string) => served.sessions.get("local", id).files.write("go", new Uint8Array());
  const command = `print('one', flush=True)\n${waitsForGo}\nprint('two', flush=True)`;
  /** Runs it with progress, which is given on as it comes. */
  const tell = (session_id: string, onSilence: (times: number) => void) => {
    let silent = 0;
    let hasPrinted = false;
    const params = { name: "execute_python_code", arguments: { command, session_id }, _meta: { progressToken: "t" } };
    return client.events("tools/call", params, ({ params }) => {
      hasPrinted ||= params?.message === "one";
      if (!hasPrinted || params?.message !== undefined) return;
      silent += 1;
      onSilence(silent);
    });
  };

  it("is told before the answer, also of silence, grows, and ends at 100, when it is asked for", async () => {
    await begin("told");
    let going: Promise<unknown> | undefined;
    const events = await tell("told", (times) => {
      if (times === 2) going = go("told");
    });
    await going;
    const told = events.slice(0, -1);
    expect(
      told.every(({ method, params }) => method === "notifications/progress" && params.progressToken === "t"),
    ).toBe(true);
    const values = told.map(({ params }) => params.progress);
    expect(values).toEqual([...values].sort((a, b) => a - b));
    expect(new Set(values).size).toBe(values.length);
    expect([values[0], values.at(-1)]).toEqual([10, 100]);
    // Start, two outputs, two silences, end: the cell had not gone on before it was silent twice.
    expect(values.length).toBeGreaterThanOrEqual(6);
    expect(told.map(({ params }) => params.message).filter((text) => text !== undefined)).toEqual(["one", "two"]);
    expect(events.at(-1)?.result.structuredContent).toEqual({ result: "one\ntwo\n" });
  });

  it("is not told when it is not asked for: the answer is the first event, also of long calls", async () => {
    for (const id of ["quiet", "told"]) await begin(id);
    const quiet = client.events("tools/call", {
      name: "execute_python_code",
      arguments: { command, session_id: "quiet" },
    });
    await expect.poll(() => served.sessions.status("local", "quiet")?.busy, { timeout: 20_000 }).toBe(true);
    // As long as another one is told of silence three times.
    let going: Promise<unknown> | undefined;
    await tell("told", (times) => {
      if (times === 3) going = Promise.all(["quiet", "told"].map(go));
    });
    await going;
    expect(await quiet).toMatchObject([{ result: { structuredContent: { result: "one\ntwo\n" } } }]);
  });
});

describe("files as resources", () => {
  it("are read by session and path, text as text and bytes as base64", async () => {
    await client.call("start_python_session", { session_id: "lab" });
    const { files } = served.sessions.get("local", "lab");
    await files.write("a/notes.txt", Buffer.from("grüße"));
    await files.write("b.bin", Uint8Array.of(0, 255));
    const text = await client.request("resources/read", { uri: "session:///lab/files/a/notes.txt" });
    expect(text.result.contents).toEqual([
      { uri: "session:///lab/files/a/notes.txt", mimeType: "text/plain", text: "grüße" },
    ]);
    const bytes = await client.request("resources/read", { uri: "session:///lab/files/b.bin" });
    expect(bytes.result.contents[0]).toMatchObject({ mimeType: "application/octet-stream", blob: "AP8=" });
    for (const uri of [
      "session:///lab/files/none",
      "session:///none/files/b.bin",
      "session:///lab/files/..%2F..%2Fetc%2Fpasswd",
    ]) {
      expect((await client.request("resources/read", { uri })).error?.message).toBe("Resource not found");
    }
  });
});

it("none of this was a fault of the server", () => {
  expect(served.faults).toEqual([]);
});
