import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createMcpServer, type RequestScope } from "../../src/index.js";
import { openClient, resultOf, type TestClient } from "../support/client.js";
import { emptyForm } from "../support/form.js";

/** A client of a server whose tool, prompt and resource ask whatever the test says, as JavaScript lets them. */
function asking(questions: unknown): TestClient {
  const ask = async ({ requestInput }: RequestScope<string>): Promise<string> =>
    JSON.stringify(await requestInput(Object({ questions }).questions));
  const server = createMcpServer<string>({
    identity: { name: "asking", version: "1" },
    authorize: () => true,
    tools: [{ name: "t", description: "asks", inputSchema: { type: "object" }, permission: "use", handler: ask }],
    prompts: [{ name: "p", permission: "use", handler: ask }],
    resources: [{ uri: "r:///1", name: "r", permission: "use", read: ask }],
  });
  return openClient(server);
}
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const elicit = (params: unknown) => ({ q: { method: "elicitation/create", params } });
const form = (properties: unknown, more: object = {}) =>
  elicit({ message: "?", requestedSchema: { type: "object", properties, ...more } });

describe("questions that no client can be asked are the handler's fault", () => {
  it.each([
    ["nothing", undefined, "without questions: requestInput({ key: { method, params } })"],
    ["a list", [], "without questions"],
    [
      "one question without a key",
      { method: "roots/list" },
      "without a key: requestInput({ key: { method, params } })",
    ],
    ["a text", { q: "Sure?" }, '"q", which is no object with method and params'],
    [
      "a method cut short",
      { q: { method: "elicitation" } },
      '"q", which has no method that a client can be asked (did you mean "elicitation/create"?)',
    ],
    ["no method", { q: {} }, "has no method that a client can be asked: there are elicitation/create"],
    ["no params", { q: { method: "elicitation/create" } }, "has no params, an object"],
    [
      "sampling without messages",
      { q: { method: "sampling/createMessage", params: { maxTokens: 1 } } },
      "has no messages, a list",
    ],
    [
      "sampling without maxTokens",
      { q: { method: "sampling/createMessage", params: { messages: [] } } },
      "has no maxTokens",
    ],
    [
      "a form without message",
      elicit({ requestedSchema: { type: "object", properties: {} } }),
      "has no message, a text",
    ],
    ["a form without schema", elicit({ message: "?" }), "has a requestedSchema that is no JSON Schema"],
    ["an unknown mode", elicit({ message: "?", mode: "page" }), 'has a mode that is neither "form" nor "url"'],
    ["a page without address", elicit({ message: "?", mode: "url" }), "has no url that is an address"],
    [
      "a page with half an address",
      elicit({ message: "?", mode: "url", url: "/here" }),
      "has no url that is an address",
    ],
    [
      "a schema of a library",
      elicit({ message: "?", requestedSchema: z.object({ a: z.string() }) }),
      "is of a library: give the JSON Schema that it stands for (zod: z.toJSONSchema(schema))",
    ],
    [
      "a schema of no object",
      elicit({ message: "?", requestedSchema: { type: "string" } }),
      'needs "type": "object" and "properties"',
    ],
    ["a required that is no list", form({}, { required: true }), "has a required that is no list of names"],
    ["a field that is none", form({ a: "string" }), 'has a field "a" that is no object'],
    ["a field without a type", form({ a: { anyOf: [] } }), 'has a field "a" of a type that forms do not have'],
    [
      "a nested object",
      form({ a: { type: "object", properties: {} } }),
      'has a field "a" of a type that forms do not have',
    ],
    [
      "a list of anything",
      form({ a: { type: "array", items: { type: "string" } } }),
      "that is an array of something else than a choice",
    ],
    [
      "a format that forms do not have",
      form({ a: { type: "string", format: "uuid" } }),
      "with a format that forms do not have: there are email, uri, date, date-time",
    ],
    ["a choice of numbers", form({ a: { type: "string", enum: [1] } }), "with an enum that is no list of texts"],
    [
      "choices without titles",
      form({ a: { type: "string", oneOf: [{ const: "a" }] } }),
      "with a oneOf that is no list of { const, title }",
    ],
    [
      "a schema that is invalid",
      form({ a: { type: "string", minLength: "1" } }),
      "has a requestedSchema that is invalid",
    ],
  ])("%s", async (_, questions, tells) => {
    const client = asking(questions);
    const asked = client.askModern("tools/call", { name: "t" }, capabilities);
    await expect(asked).rejects.toMatchObject({ name: "ResultError", code: "RESULT_INVALID" });
    await expect(asked).rejects.toThrow(
      `the handler of tools/call "t" asked ${tells.startsWith("without") ? tells : ""}`,
    );
    await expect(asked).rejects.toThrow(tells);
    await client.initialize("2025-11-25", capabilities);
    await expect(client.ask("tools/call", { name: "t" })).rejects.toThrow(tells);
    expect(client.sent).toEqual([]);
  });

  it("in prompts and resources as in tools, whatever the client declares", async () => {
    const client = asking({ q: { method: "ask" } });
    await expect(client.askModern("prompts/get", { name: "p" })).rejects.toThrow(
      'the handler of prompts/get "p" asked',
    );
    await expect(client.askModern("resources/read", { uri: "r:///1" })).rejects.toThrow(
      'of resources/read "r:///1" asked',
    );
  });
});

describe("questions that clients can be asked", () => {
  it.each([
    ["no question", {}],
    ["a form without fields", { q: { method: "elicitation/create", params: emptyForm("?") } }],
    [
      "what zod makes of its schema",
      elicit({
        message: "?",
        requestedSchema: z.toJSONSchema(
          z.strictObject({
            a: z.email(),
            b: z.int().min(1),
            c: z.enum(["x"]),
            d: z.array(z.enum(["x"])),
            e: z.boolean().optional(),
          }),
        ),
      }),
    ],
    [
      "each kind of field",
      form(
        {
          a: { type: "string", enum: ["a"], enumNames: ["A"] },
          b: { type: "string", oneOf: [{ const: "a", title: "A" }] },
          c: { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } },
          d: { type: "number" },
        },
        { required: ["a"] },
      ),
    ],
    ["a page", elicit({ message: "?", mode: "url", url: "https://example.org/", elicitationId: "1" })],
    ["sampling", { q: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } } }],
    ["roots", { q: { method: "roots/list", params: undefined } }],
  ])("%s", async (_, questions) => {
    const result = resultOf(await asking(questions).askModern("tools/call", { name: "t" }, capabilities));
    expect(Object.keys(Object(result["inputRequests"]))).toEqual(Object.keys(questions));
  });
});
