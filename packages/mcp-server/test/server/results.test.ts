import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createMcpServer, isRpcError, type McpServer, type McpServerOptions, RpcError } from "../../src/index.js";
import { openClient, resultOf } from "../support/client.js";

const about = { description: "a tool", permission: "use", inputSchema: { type: "object" } } as const;

/** A server whose handlers return whatever the test says, as JavaScript lets them. */
function returning(value: unknown, more: Partial<McpServerOptions<string>> = {}): McpServer<string> {
  const returned = () => Object({ value }).value;
  return createMcpServer<string>({
    identity: { name: "returning", version: "1" },
    authorize: () => true,
    tools: [{ ...about, name: "t", handler: returned }],
    prompts: [{ name: "p", permission: "use", arguments: [{ name: "a", complete: returned }], handler: returned }],
    resources: [{ uri: "r:///1", name: "r", permission: "use", read: returned }],
    ...more,
  });
}
const bytes = Buffer.from("bytes");
const text = { type: "text", text: "x" };

describe("what a handler returns by mistake is a ResultError and never sent", () => {
  it.each([
    ["nothing", undefined, "neither a string nor an object"],
    ["a list", [text], "neither a string nor an object"],
    ["another object", { result: 5 }, 'the unknown member "result"'],
    ["a misspelled member", { contents: [text] }, 'the unknown member "contents" (did you mean "content"?)'],
    ["content that is no list", { content: text }, "content that is no array"],
    ["isError as a text", { isError: "yes" }, "isError that is neither true nor false"],
    ["_meta as a list", { content: [], _meta: [] }, "_meta that is no object"],
    ["a text as a block", { content: [text, "x"] }, "content[1], which is no content block"],
    [
      "a block without a type",
      { content: [{ text: "x" }] },
      "content[0], which has the type undefined, which does not exist",
    ],
    [
      "a block of an unknown type",
      { content: [{ type: "video", data: "" }] },
      'content[0], which has the type "video"',
    ],
    [
      "a text block without text",
      { content: [{ type: "text", text: 5 }] },
      "content[0], which has text that is no text",
    ],
    ["an image without its type", { content: [{ type: "image", data: "AA==" }] }, "content[0], which has no mimeType"],
    [
      "an image as bytes",
      { content: [{ type: "image", data: bytes, mimeType: "a/b" }] },
      "data as bytes, where base64 is needed",
    ],
    ["sound without data", { content: [{ type: "audio", mimeType: "a/b" }] }, "content[0], which has no data"],
    ["a link without a name", { content: [{ type: "resource_link", uri: "r:///1" }] }, "content[0], which has no name"],
    ["a resource without one", { content: [{ type: "resource" }] }, "content[0], which has no resource"],
    [
      "a resource without address",
      { content: [{ type: "resource", resource: { text: "x" } }] },
      "has a resource which has no uri",
    ],
    [
      "a resource without content",
      { content: [{ type: "resource", resource: { uri: "r:///" } }] },
      "has neither text nor blob",
    ],
  ])("a tool: %s", async (_, value, tells) => {
    const asked = openClient(returning(value)).askModern("tools/call", { name: "t" });
    await expect(asked).rejects.toMatchObject({ name: "ResultError", code: "RESULT_INVALID" });
    await expect(asked).rejects.toThrow(`the handler of tool "t" returned`);
    await expect(asked).rejects.toThrow(tells);
  });

  it.each([
    ["bytes", bytes, 'is bytes: return { blob: bytes.toString("base64") }'],
    ["bytes in a list", [bytes], "is bytes"],
    ["blob as bytes", { blob: bytes }, "has text or blob as bytes, where base64 is needed"],
    ["a whole result", { contents: [{ uri: "r:///1", text: "x" }] }, "wraps its contents: return the list itself"],
    ["another object", { value: 1 }, "has neither text nor blob"],
    ["null", null, "is neither text nor an object"],
    ["a number", 5, "is neither text nor an object"],
    ["an address that is no text", { text: "x", uri: 5 }, "has a uri that is no text"],
  ])("a resource: %s", async (_, value, tells) => {
    const asked = openClient(returning(value)).askModern("resources/read", { uri: "r:///1" });
    await expect(asked).rejects.toMatchObject({ name: "ResultError" });
    await expect(asked).rejects.toThrow(`reading "r:///1" returned what ${tells}`);
  });

  it.each([
    [
      "content as a text",
      { messages: [{ role: "user", content: "x" }] },
      "messages[0], which has content which is no content block",
    ],
    ["content as a list", { messages: [{ role: "user", content: [text] }] }, "has content which is no content block"],
    ["another role", { messages: [{ role: "system", content: text }] }, 'messages[0], which has the role "system"'],
    ["a message as text", { messages: ["x"] }, "messages[0], which is no object"],
    ["a misspelled member", { messages: [], descripton: "x" }, '(did you mean "description"?)'],
    ["no messages", {}, "neither a string nor messages"],
  ])("a prompt: %s", async (_, value, tells) => {
    const asked = openClient(returning(value)).askModern("prompts/get", { name: "p" });
    await expect(asked).rejects.toMatchObject({ name: "ResultError" });
    await expect(asked).rejects.toThrow(tells);
  });

  it.each([
    ["a text", "xyz"],
    ["nothing", undefined],
    ["numbers", [1, 2]],
  ])("a completer: %s", async (_, value) => {
    const params = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } };
    const asked = openClient(returning(value)).askModern("completion/complete", params);
    await expect(asked).rejects.toThrow('the completer of "a" of "p" returned what is no list of texts');
  });
});

describe("what a handler may return", () => {
  it("is each kind of content, whatever else it carries", async () => {
    const content = [
      { ...text, annotations: { priority: 1 }, _meta: {} },
      { type: "image", data: "", mimeType: "image/png" },
      { type: "audio", data: "", mimeType: "audio/wav", "x-more": 1 },
      { type: "resource_link", uri: "r:///1", name: "r", size: 1 },
      { type: "resource", resource: { uri: "r:///1", blob: "" } },
    ];
    const result = resultOf(await openClient(returning({ content })).askModern("tools/call", { name: "t" }));
    expect(result["content"]).toEqual(content);
  });

  it("is nothing to say at all", async () => {
    const result = resultOf(await openClient(returning({})).askModern("tools/call", { name: "t" }));
    expect(result).toMatchObject({ content: [], resultType: "complete" });
  });
});

describe("an output schema of a library", () => {
  const outputSchema = z.object({ n: z.number(), unit: z.string().default("m") });
  const server = returning("", {
    tools: [
      { ...about, name: "t", outputSchema, handler: () => Object({ structuredContent: { n: 1, passwordHash: "x" } }) },
    ],
  });

  it("decides what is sent: what its validation returns, also as text", async () => {
    const result = resultOf(await openClient(server).askModern("tools/call", { name: "t" }));
    expect(result["structuredContent"]).toEqual({ n: 1, unit: "m" });
    expect(result["content"]).toEqual([{ type: "text", text: '{"n":1,"unit":"m"}' }]);
  });

  it("is shown as what its validation returns", async () => {
    const { tools } = resultOf(await openClient(server).askModern("tools/list"));
    expect(tools).toMatchObject([{ outputSchema: { required: ["n", "unit"], additionalProperties: false } }]);
  });

  it("is refused at the start when it makes what JSON Schema cannot say", () => {
    const dated = z.object({ day: z.string().transform((day) => new Date(day)) });
    expect(() => returning("", { tools: [{ ...about, name: "t", outputSchema: dated, handler: () => "" }] })).toThrow(
      "outputSchema:",
    );
  });

  it("that is plain JSON Schema changes nothing", async () => {
    const plain = { type: "object", properties: { n: { type: "number" } } };
    const structuredContent = { n: 1, more: 2 };
    const tools = [{ ...about, name: "t", outputSchema: plain, handler: () => ({ structuredContent }) }];
    const result = resultOf(await openClient(returning("", { tools })).askModern("tools/call", { name: "t" }));
    expect(result["structuredContent"]).toEqual(structuredContent);
  });
});

describe("an RpcError", () => {
  it.each([
    ["E_X", '"E_X"'],
    [1.5, "1.5"],
    [Number.NaN, "NaN"],
    [undefined, "undefined"],
    [2 ** 53, "9007199254740992"],
  ])("with the code %j cannot be made", (code, shown) => {
    const make = (): unknown => Reflect.construct(RpcError, [code, "text"]);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(`the code of an RpcError is ${shown}; it has to be an integer`);
  });

  it("takes any integer", () => {
    for (const code of [0, -32_000, 4_001]) expect(isRpcError(new RpcError(code, "text"))).toBe(true);
  });
});
