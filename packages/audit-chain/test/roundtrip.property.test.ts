import fc from "fast-check";
import { expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { type EntryInput, isChainError, verifyLog } from "../src/index.js";
import { clearScratch, entriesOf, logFolder, open, scaledTest } from "./scratch.js";

const name = fc.oneof(
  fc.constantFrom("seq", "hash", "__proto__", "constructor", "10", ""),
  fc.string({ unit: "binary", maxLength: 12 }),
);
const members = fc.dictionary(name, fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }), {
  noNullPrototype: true,
  maxKeys: 6,
});
const input: fc.Arbitrary<EntryInput> = fc
  .tuple(members, fc.constantFrom("a", "note", "call.intent", "Not a type"))
  .map(([own, type]) => JSON.parse(JSON.stringify({ ...own, type })));
const batches = fc.array(fc.array(input, { maxLength: 5 }), { maxLength: 5 });

it(
  "what was accepted is what is read back, in call order, and the log verifies strictly; the rest left no trace",
  scaledTest,
  async () => {
    const durability = fc.constantFrom("each" as const, "batch" as const, "none" as const);
    const check = fc.asyncProperty(batches, durability, fc.boolean(), async (turns, level, reopen) => {
      const directory = logFolder();
      let chain = await open(directory, { durability: level });
      const accepted: EntryInput[] = [];
      for (const turn of turns) {
        const settled = await Promise.allSettled(turn.map((entry) => chain.append(entry)));
        for (const [index, result] of settled.entries()) {
          if (result.status === "fulfilled") accepted.push(turn[index] ?? { type: "missing" });
          else expect(isChainError(result.reason) && result.reason.code).toMatch(/^(ENTRY_INVALID|NOT_I_JSON)$/);
        }
        if (!reopen) continue;
        await chain.close();
        chain = await open(directory, { durability: level });
      }
      await chain.close();
      const read = await entriesOf(directory);
      expect(read.map(({ seq: _seq, time: _time, prev: _prev, hash: _hash, ...own }) => own)).toEqual(accepted);
      expect(read.map(({ seq }) => seq)).toEqual(accepted.map((_, index) => index + 1));
      expect((await verifyLog(directory, { strict: true })).problems).toEqual([]);
    });
    await fc.assert(check.afterEach(clearScratch), { numRuns: scaledCount("logs written and read back", 4_000) });
  },
);
