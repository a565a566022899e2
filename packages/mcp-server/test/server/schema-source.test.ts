import { describe, expect, it } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import * as zod3 from "zod/v3";
import { createMcpServer, type RegistrationError } from "../../src/index.js";
import { openClient, resultOf } from "../support/client.js";
import { sampleServer } from "../support/sample.js";

/** What the registration report says of a tool with this input schema. */
function problemOf(inputSchema: unknown): string {
  const options: Parameters<typeof createMcpServer<string>>[0] = JSON.parse(
    '{"identity":{"name":"s","version":"1"},"tools":[{"name":"t","description":"d","permission":"p"}]}',
  );
  Object.assign(options.tools?.[0] ?? {}, { inputSchema, handler: () => "" });
  try {
    createMcpServer(options);
  } catch (error) {
    const { problems }: RegistrationError = Object(error);
    return problems.map(({ message }) => message).join("; ");
  }
  return "";
}

describe("a schema of another library", () => {
  it.each([
    { what: "zod/mini", schema: mini.object({ n: mini.number() }), tells: "needs zod 4.2 or later, and not zod/mini" },
    { what: "zod 3", schema: zod3.z.object({ n: zod3.z.number() }), tells: "needs zod 4.2 or later" },
    { what: "a zod older than Standard Schema", schema: { _def: {}, safeParse: () => {} }, tells: "needs zod 4.2" },
    { what: "a raw zod shape", schema: { n: z.number() }, tells: "wrap them in z.object({ … })" },
    {
      what: "a library without JSON Schema",
      schema: { "~standard": { version: 1, vendor: "other", validate: () => ({ value: 1 }) } },
      tells: "this other schema cannot say its JSON Schema",
    },
  ])("that cannot be used is told with what to do: $what", ({ schema, tells }) => {
    expect(problemOf(schema)).toContain(tells);
  });

  it("tells where a fault is, but not at the length that a client chose", async () => {
    const server = sampleServer({
      tools: [
        {
          name: "keyed",
          description: "Takes a record of numbers",
          inputSchema: z.object({ r: z.record(z.string(), z.number()) }),
          permission: "use",
          handler: () => "",
        },
      ],
    });
    const client = openClient(server);
    const r = Object.fromEntries(Array.from({ length: 20 }, (_, key) => [`~${key}${"k".repeat(100_000)}`, "no"]));
    const text = JSON.stringify(resultOf(await client.askModern("tools/call", { name: "keyed", arguments: { r } })));
    expect(text).toContain("/r/~00kkk");
    expect(text.length).toBeLessThan(20_000);
  });

  it("that can say its JSON Schema is taken as it is", () => {
    expect(problemOf(z.object({ n: z.number() }))).toBe("");
  });
});
