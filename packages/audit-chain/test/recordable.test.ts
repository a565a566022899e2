import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { openChain, recordable, verifyLog } from "../src/index.js";

describe("an entry whose names others chose", () => {
  it("is the same object when a chain takes it as it is", () => {
    const entry = { type: "call", tool: "écho 😂", bytes: 3, at: undefined, nested: { a: "b" } };
    expect(recordable(entry)).toBe(entry);
  });

  it.each([
    { name: "lone surrogates are escaped", given: "a\ud800b\udfff", kept: "a\\ud800b\\udfff" },
    { name: "a text of the longest is whole", given: "n".repeat(1_024), kept: "n".repeat(1_024) },
  ])("$name", ({ given, kept }) => {
    expect(recordable({ type: "call", tool: given })).toEqual({ type: "call", tool: kept });
  });

  it("keeps the beginning of a longer text and the digest of the whole", () => {
    const { tool } = recordable({ tool: "n".repeat(1_025) });
    expect(tool).toMatch(/^n{900}… sha256:[0-9a-f]{64}$/u);
    expect(recordable({ tool: `${"n".repeat(1_024)}m` }).tool).not.toBe(tool);
  });

  it("says how much of a long list is left out", () => {
    const { servers } = recordable({ servers: Array.from({ length: 1_000 }, (_, at) => `server-${at}`) });
    const list = Array.isArray(servers) ? servers : [];
    expect(list.slice(0, 2)).toEqual(["server-0", "server-1"]);
    expect(list.at(-1)).toBe(`… and ${1_000 - (list.length - 1)} more`);
    expect(list.join("").length).toBeLessThan(4_200);
  });

  it("is taken by a chain, whatever the names are, and the log verifies", async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-recordable-"));
    const half = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));
    const unit = fc.oneof(fc.string({ unit: "binary", maxLength: 4 }), half, fc.constant("\u0001".repeat(700)));
    const text = fc.array(unit, { maxLength: 8 }).map((parts) => parts.join(""));
    const count = scaledCount("recordable names", 4_000);
    const chain = await openChain({ directory: join(folder, "log"), durability: "none", now: Date.now });
    try {
      const lists = fc.array(text, { maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(text, text, lists, async (server, tool, names) => {
          await chain.append({ ...recordable({ server, tool, names }), type: "call" });
        }),
        { numRuns: count },
      );
      await chain.close();
      expect(await verifyLog(join(folder, "log"), { strict: true })).toMatchObject({ ok: true, entries: count });
    } finally {
      await chain.close();
      await rm(folder, { recursive: true });
    }
  });
});
