import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createMcpServer, type ToolDefinition } from "../../src/index.js";
import { sentJson } from "../../src/server/sent-json.js";
import { openClient, resultOf } from "../support/client.js";

const number = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const object = { type: "object", properties: { o: { type: "object" } }, required: ["o"] };
const anything = { type: "object", properties: { f: {} }, required: ["f"] };
class Secretive {
  readonly a = 1;
  toJSON(): string {
    return "text";
  }
}
const cycle: Record<string, unknown> = {};
cycle["f"] = cycle;
let deep: unknown = 1;
for (let level = 0; level < 100_000; level += 1) deep = { f: deep };

/** Calls a tool whose handler returns this as its structured result, as JavaScript lets it. */
async function structured(value: unknown, outputSchema: ToolDefinition<string>["outputSchema"]) {
  const tool: ToolDefinition<string> = {
    name: "t",
    description: "a tool",
    inputSchema: { type: "object" },
    outputSchema,
    permission: "use",
    handler: () => Object({ structuredContent: value }),
  };
  const server = createMcpServer<string>({
    identity: { name: "s", version: "1" },
    authorize: () => true,
    tools: [tool],
  });
  return resultOf(await openClient(server).askModern("tools/call", { name: "t" }));
}

describe("a structured result", () => {
  it.each([
    { name: "NaN", value: { n: Number.NaN }, schema: number },
    { name: "Infinity", value: { n: Number.POSITIVE_INFINITY }, schema: number },
    { name: "a Date", value: { o: new Date(0) }, schema: object },
    { name: "an object with toJSON", value: { o: new Secretive() }, schema: object },
    { name: "a boxed string", value: { o: Object("x") }, schema: object },
    { name: "toJSON at its root", value: { n: 1, toJSON: () => "root" }, schema: number },
    { name: "a function", value: { f: () => 1 }, schema: anything },
    { name: "a symbol", value: { f: Symbol("x") }, schema: anything },
    { name: "undefined", value: { f: undefined }, schema: anything },
    { name: "what it inherits", value: Object.create({ n: 1 }), schema: number },
    { name: "a bigint", value: { f: 1n }, schema: anything },
    { name: "a cycle", value: cycle, schema: anything },
    { name: "a depth that nothing can write", value: deep, schema: anything },
    {
      name: "undefined in a list",
      value: { f: [undefined] },
      schema: { type: "object", properties: { f: { type: "array", items: { type: "string" } } } },
    },
    { name: "a function as the whole", value: () => 1, schema: undefined },
  ])("with $name is checked as the JSON that would be sent, and refused", async ({ value, schema }) => {
    await expect(structured(value, schema)).rejects.toMatchObject({ code: "RESULT_INVALID" });
  });

  it.each([
    { name: "a Date for a text", value: { t: new Date(0) }, sent: { t: "1970-01-01T00:00:00.000Z" } },
    { name: "undefined for what may be absent", value: { t: "x", more: undefined }, sent: { t: "x" } },
    { name: "no prototype", value: Object.assign(Object.create(null), { t: "x" }), sent: { t: "x" } },
  ])("with $name is sent as JSON writes it, as text too", async ({ value, sent }) => {
    const schema = {
      type: "object",
      properties: { t: { type: "string" } },
      required: ["t"],
      additionalProperties: false,
    };
    for (const outputSchema of [schema, z.strictObject({ t: z.string() })]) {
      const result = await structured(value, outputSchema);
      expect(result["structuredContent"]).toEqual(sent);
      expect(result["content"]).toEqual([{ type: "text", text: JSON.stringify(sent) }]);
    }
  });

  it("that is plain JSON is taken as it is, without a copy; all else as JSON writes it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(sentJson(value)).toBe(value);
      }),
    );
    fc.assert(
      fc.property(
        fc.anything({ withDate: true, withMap: true, withTypedArray: true, withBoxedValues: true }),
        (value) => {
          let text: string | undefined;
          try {
            text = JSON.stringify(value);
          } catch {
            text = undefined;
          }
          if (text === undefined) expect(() => sentJson(value)).toThrow(TypeError);
          else expect(JSON.stringify(sentJson(value))).toBe(text);
        },
      ),
    );
  });
});
