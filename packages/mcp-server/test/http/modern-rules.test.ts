import { describe, expect, it } from "vitest";
import { defineTool } from "../../src/index.js";
import { call, codeOf, frontEnds, modern, type Options, post, type Sent, withHeaders } from "../support/http.js";
import { notes } from "../support/notes.js";
import { sampleServer, sampleTools } from "../support/sample.js";

const annotated = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    count: { type: "integer", "x-mcp-header": "Count" },
    inner: { type: "object", properties: { flag: { type: "boolean", "x-mcp-header": "Flag" } } },
  },
} as const;
const located = defineTool<string, typeof annotated>({
  name: "located",
  description: "Has arguments in headers",
  inputSchema: annotated,
  permission: "use",
  handler: () => "here",
});
const hidden = defineTool<string, typeof annotated>({ ...located, name: "hidden", permission: "admin" });
const server = sampleServer({
  ...notes,
  tools: [...sampleTools, located, hidden],
});

const version = "io.modelcontextprotocol/protocolVersion";
const capabilities = "io.modelcontextprotocol/clientCapabilities";
const bare = (method: string, params: object = {}): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const encode = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;

interface Row {
  readonly name: string;
  readonly sent: Sent;
  readonly status: number;
  /** Undefined: a result. */
  readonly code?: number;
}

const decisions: readonly Row[] = [
  {
    name: "no version header",
    sent: call("sum", {}, { headers: { "mcp-protocol-version": undefined } }),
    status: 400,
    code: -32020,
  },
  {
    name: "another version in the header",
    sent: call("sum", {}, { headers: { "mcp-protocol-version": "2025-11-25" } }),
    status: 400,
    code: -32020,
  },
  {
    name: "blanks around the version",
    sent: call("sum", {}, { headers: { "mcp-protocol-version": " 2026-07-28\t" } }),
    status: 200,
  },
  {
    name: "a version that nobody serves, in both places",
    sent: call("sum", {}, { meta: { [version]: "2099-01-01" }, headers: { "mcp-protocol-version": "2099-01-01" } }),
    status: 400,
    code: -32022,
  },
  {
    name: "a version that nobody serves, in the header alone",
    sent: call("sum", {}, { headers: { "mcp-protocol-version": "2099-01-01" } }),
    status: 400,
    code: -32020,
  },
  { name: "a version that is a number", sent: call("sum", {}, { meta: { [version]: 1 } }), status: 400, code: -32602 },
  { name: "a version that is null", sent: call("sum", {}, { meta: { [version]: null } }), status: 400, code: -32602 },
  {
    name: "capabilities that are an array",
    sent: call("sum", {}, { meta: { [capabilities]: [] } }),
    status: 400,
    code: -32602,
  },
  {
    name: "no _meta, but a modern header",
    sent: { ...call("sum"), body: bare("tools/call", { name: "sum" }) },
    status: 400,
    code: -32602,
  },
  {
    name: "initialize without _meta, but a modern header",
    sent: { ...call("sum"), body: bare("initialize") },
    status: 400,
    code: -32602,
  },
  {
    name: "ping without _meta, but a modern header",
    sent: { ...call("sum"), body: bare("ping") },
    status: 400,
    code: -32602,
  },
  ...[
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tools/none",
    "__proto__",
  ].map((method) => ({ name: `${method} with _meta`, sent: modern(method), status: 404, code: -32601 })),
  {
    name: "an Mcp-Method with a blank that headers do not have around them",
    sent: call("sum", {}, { headers: { "mcp-method": "tools/call\u00a0" } }),
    status: 400,
    code: -32020,
  },
  { name: "no Mcp-Method", sent: call("sum", {}, { headers: { "mcp-method": undefined } }), status: 400, code: -32020 },
  {
    name: "another Mcp-Method",
    sent: call("sum", {}, { headers: { "mcp-method": "tools/list" } }),
    status: 400,
    code: -32020,
  },
  {
    name: "Mcp-Method in capitals",
    sent: call("sum", {}, { headers: { "mcp-method": "Tools/Call" } }),
    status: 400,
    code: -32020,
  },
  {
    name: "Mcp-Method encoded",
    sent: call("sum", {}, { headers: { "mcp-method": encode("tools/call") } }),
    status: 400,
    code: -32020,
  },
  { name: "no Mcp-Name", sent: call("sum", {}, { headers: { "mcp-name": undefined } }), status: 400, code: -32020 },
  { name: "another Mcp-Name", sent: call("sum", {}, { headers: { "mcp-name": "echo" } }), status: 400, code: -32020 },
  { name: "Mcp-Name encoded", sent: call("sum", {}, { headers: { "mcp-name": encode("sum") } }), status: 200 },
  {
    name: "Mcp-Name of bad Base64",
    sent: call("sum", {}, { headers: { "mcp-name": "=?base64?c3Vt=?=" } }),
    status: 400,
    code: -32020,
  },
  { name: "Mcp-Name of a resource", sent: modern("resources/read", { uri: "note:///1" }), status: 200 },
  {
    name: "another Mcp-Name for a resource",
    sent: modern("resources/read", { uri: "note:///1" }, { headers: { "mcp-name": "note:///2" } }),
    status: 400,
    code: -32020,
  },
  {
    name: "no Mcp-Name for a prompt",
    sent: modern("prompts/get", { name: "talk" }, { headers: { "mcp-name": undefined } }),
    status: 400,
    code: -32020,
  },
  { name: "a method without Mcp-Name", sent: modern("tools/list"), status: 200 },
  {
    name: "an unknown method before the headers",
    sent: modern("ping", {}, { headers: { "mcp-method": undefined } }),
    status: 404,
    code: -32601,
  },
  { name: "an unknown tool", sent: call("none"), status: 200, code: -32602 },
  { name: "a bad cursor", sent: modern("tools/list", { cursor: "x" }), status: 200, code: -32602 },
  { name: "a missing resource", sent: modern("resources/read", { uri: "note:///none" }), status: 200, code: -32602 },
  { name: "a capability that was not declared", sent: call("asks"), status: 400, code: -32021 },
  {
    name: "a session id and a last event id",
    sent: call("sum", {}, { headers: { "mcp-session-id": "x", "last-event-id": "1" } }),
    status: 200,
  },
];

const region = (header: string | undefined, value: unknown): Sent =>
  call("located", JSON.parse(JSON.stringify({ region: value })), { headers: { "mcp-param-region": header } });
const count = (header: string | undefined, value: number): Sent =>
  call("located", { count: value }, { headers: { "mcp-param-count": header } });
const flag = (header: string | undefined, value: boolean): Sent =>
  call("located", { inner: { flag: value } }, { headers: { "mcp-param-flag": header } });

const parameters: readonly Row[] = [
  { name: "none given, none sent", sent: call("located"), status: 200 },
  { name: "the same text", sent: region("eu", "eu"), status: 200 },
  { name: "other text", sent: region("EU", "eu"), status: 400, code: -32020 },
  { name: "blanks around the header", sent: region(" eu ", "eu"), status: 200 },
  { name: "no header", sent: region(undefined, "eu"), status: 400, code: -32020 },
  { name: "a header for null", sent: region("eu", null), status: 400, code: -32020 },
  { name: "a header for nothing", sent: region("eu", undefined), status: 400, code: -32020 },
  { name: "null without header", sent: region(undefined, null), status: 200 },
  { name: "encoded text", sent: region(encode("grüße"), "grüße"), status: 200 },
  { name: "encoded text with blanks", sent: region(encode(" eu "), " eu "), status: 200 },
  { name: "text that looks encoded, encoded", sent: region(encode(encode("x")), encode("x")), status: 200 },
  { name: "text that looks encoded, as it is", sent: region(encode("x"), encode("x")), status: 400, code: -32020 },
  { name: "bad Base64", sent: region("=?base64?SGVs!!!bG8=?=", "Hello"), status: 400, code: -32020 },
  { name: "the sentinel in capitals is text", sent: region("=?BASE64?eA==?=", "=?BASE64?eA==?="), status: 200 },
  { name: "an integer", sent: count("42", 42), status: 200 },
  { name: "an integer with a fraction of nothing", sent: count("42.0", 42), status: 200 },
  { name: "a negative integer", sent: count("-7", -7), status: 200 },
  { name: "another integer", sent: count("43", 42), status: 400, code: -32020 },
  { name: "an integer in hexadecimal", sent: count("0x2a", 42), status: 400, code: -32020 },
  { name: "an integer with zeros before it", sent: count("0042", 42), status: 400, code: -32020 },
  { name: "zero below zero", sent: count("-0", 0), status: 400, code: -32020 },
  {
    name: "another integer that is the same number here",
    sent: count("9007199254740993", 2 ** 53),
    status: 400,
    code: -32020,
  },
  { name: "an empty header for 0", sent: count("", 0), status: 400, code: -32020 },
  { name: "true", sent: flag("true", true), status: 200 },
  { name: "True", sent: flag("True", true), status: 400, code: -32020 },
  { name: "false", sent: flag("false", false), status: 200 },
  { name: "an argument inside another, without header", sent: flag(undefined, false), status: 400, code: -32020 },
  {
    name: "a header that no argument has",
    sent: call("sum", {}, { headers: { "mcp-param-other": "x" } }),
    status: 200,
  },
  {
    name: "of a tool that may not be used, the same as of one that is not there",
    sent: call("hidden", { region: "eu" }),
    status: 200,
    code: -32602,
  },
];

describe.each(frontEnds)("2026-07-28 over $name", ({ start }) => {
  const options: Options = { server, principal: "ada" };

  it.each([...decisions, ...parameters.map((row) => ({ ...row, name: `Mcp-Param: ${row.name}` }))])(
    "$name is answered with $status",
    async ({ sent, status, code }) => {
      await using front = await start(options);
      const answer = await front.send(sent);
      expect([answer.status, codeOf(answer)]).toEqual([status, code]);
      expect(answer.json).toHaveProperty("id", 1);
    },
  );

  it("a notification is accepted and not answered, by its body or by its header", async () => {
    await using front = await start(options);
    const method = "notifications/cancelled";
    const notification = (meta: object, header: string | undefined): Sent =>
      post(JSON.parse(JSON.stringify({ jsonrpc: "2.0", method, params: { _meta: meta } })), {
        "mcp-protocol-version": header,
      });
    const statusOf = async (sent: Sent): Promise<readonly [number, string]> => {
      const { status, text } = await front.send(sent);
      return [status, text];
    };
    expect(await statusOf(notification({ [version]: "2026-07-28" }, "2026-07-28"))).toEqual([202, ""]);
    expect(await statusOf(notification({}, "2026-07-28"))).toEqual([202, ""]);
    expect((await statusOf(notification({ [version]: "2026-07-28" }, undefined)))[0]).toBe(400);
    expect((await statusOf(notification({ [version]: "2099-01-01" }, "2099-01-01")))[0]).toBe(400);
    expect((await statusOf(notification({}, undefined)))[0]).toBe(400); // of a session, and there is none
  });

  it("what a handler throws is -32603 without a word of it, told to the operator, and the server goes on", async () => {
    const told: unknown[] = [];
    const onUnexpectedError = (error: unknown): never => {
      told.push(error);
      throw error;
    };
    await using front = await start({ ...options, onUnexpectedError });
    const answer = await front.send(call("breaks"));
    expect([answer.status, codeOf(answer)]).toEqual([200, -32603]);
    expect(answer.text).not.toContain("hunter2");
    expect(told).toEqual([expect.objectContaining({ message: "the password is hunter2" })]);
    expect((await front.send(call("sum"))).status).toBe(200);
  });

  it("a client that takes streams alone gets one", async () => {
    await using front = await start(options);
    const answer = await front.open(withHeaders(call("sum"), { accept: "text/event-stream" }));
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(await answer.next()).toMatchObject({ id: 1, result: { structuredContent: { n: 3 } } });
    expect(await answer.next()).toBeUndefined();
  });
});
