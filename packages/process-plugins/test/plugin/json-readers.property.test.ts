import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { createLineSplitter } from "../../src/plugin/line-splitter.js";
import { depthOf, readLine } from "../../src/plugin/read-line.js";
import { fixtureNames, readyPlugin } from "./fixture-plugin.js";
import { type PluginProcess, startPlugin } from "./plugin-process.js";
import { request, stepsTo } from "./protocol-table.js";

const subject = { name: "smoke", version: "1.0.0", health: { status: "ok" }, capabilities: {} };
const line = Buffer.from(
  '{"jsonrpc":"2.0","id":7,"method":"ave/no/such","params":{"a":[1,-2.5e3,true,false,null,"é✓😀\\u00e9\\n\\"",{}]}}',
);

/** Changes at a few places; no line feed, which would be another line, and no NUL, which a shell cannot hold. */
const changed = fc
  .array(
    fc.record({
      at: fc.nat(line.length - 1),
      kind: fc.constantFrom("replace", "insert", "remove"),
      byte: fc.oneof(fc.constantFrom(...Buffer.from('{}[]",:\\ \t\r-+.0e')), fc.integer({ min: 1, max: 255 })),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((changes) => {
    const bytes = [...line];
    for (const { at, kind, byte } of changes)
      bytes.splice(at, kind === "insert" ? 0 : 1, ...(kind === "remove" ? [] : [byte]));
    return Uint8Array.from(bytes.filter((byte) => byte !== 0x0a));
  });

/** Whether the plugin took a line for JSON, by what it answered before it was asked once more. */
async function takesForJson(plugin: PluginProcess, bytes: Uint8Array): Promise<boolean> {
  plugin.send(bytes);
  // Not health, which may come before a request of MCP that waits.
  plugin.send(request("last", "ave/no/such"));
  const answers: unknown[] = [];
  for (;;) {
    const answer = Object(await plugin.next());
    if (answer.id === "last" || answer.jsonrpc === undefined) break;
    answers.push(answer);
  }
  expect(answers.length).toBeLessThanOrEqual(1);
  return !answers.some((answer) => Object(answer).error.code === -32700);
}

describe.each(fixtureNames)("%s", (name) => {
  it("takes for JSON what Node takes for it, and nothing else", { timeout: 900_000 }, async (context) => {
    const { root, command, remove } = readyPlugin(name, context);
    try {
      await using plugin = startPlugin(command, [], root);
      for (const [send] of stepsTo("created", subject)) plugin.send(send);
      await plugin.next();
      const property = fc.asyncProperty(changed, async (bytes) => {
        const read = readLine(bytes);
        const isJson = read.kind !== "fault" || read.fault.code !== -32700;
        expect(await takesForJson(plugin, bytes)).toBe(isJson);
      });
      await fc.assert(property, { numRuns: scaledCount(`lines read by ${name}`, 4_000) });
    } finally {
      remove();
    }
  });
});

describe("lines", () => {
  it("are the same however the bytes are cut; what is over the limit is told as one that is too long", () => {
    const bytes = fc.array(fc.constantFrom(0x0a, 0x61, 0x62), { maxLength: 60 });
    const cuts = fc.array(fc.nat(60), { maxLength: 8 });
    fc.assert(
      fc.property(bytes, cuts, (all, at) => {
        const splitter = createLineSplitter(() => 8);
        const edges = [0, ...at.filter((each) => each < all.length).sort((a, b) => a - b), all.length];
        const found = edges.slice(1).flatMap((end, i) => splitter.push(Uint8Array.from(all.slice(edges[i] ?? 0, end))));
        const text = Buffer.from(all).toString();
        const expected = text.split("\n").slice(0, -1);
        expect(found.map((each) => each && Buffer.from(each).toString())).toEqual(
          expected.map((each) => (each.length > 8 ? undefined : each)),
        );
      }),
    );
  });

  it("are as deep as their values are", () => {
    const depth = (value: unknown): number => {
      if (typeof value !== "object" || value === null) return 0;
      return 1 + Math.max(0, ...Object.values(value).map(depth));
    };
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => depthOf(JSON.stringify(value)) === depth(value)));
  });
});
