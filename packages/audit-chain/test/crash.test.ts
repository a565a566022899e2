import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { verifyLog } from "../src/index.js";
import { startNode } from "./processes.js";
import { entriesOf, logFolder, open, scaledTest } from "./scratch.js";

interface Ack {
  readonly sequence: number;
  readonly hash: string;
}

const acksIn = (lines: readonly string[]): Ack[] =>
  lines
    .filter((line) => /^ack \d+ [0-9a-f]{64}$/.test(line))
    .map((line) => ({ sequence: Number(line.split(" ")[1]), hash: line.split(" ")[2] ?? "" }));

/** Kills a real writer after so many acknowledgements; answers what it had acknowledged by then. */
async function killWriter(directory: string, durability: string, after: number, payload: number): Promise<Ack[]> {
  const writer = startNode("writer.mjs", [directory, durability, "0", String(payload)]);
  let seen = 0;
  await writer.line((line) => line.startsWith("ack ") && ++seen >= after);
  writer.child.kill("SIGKILL");
  expect((await writer.ended).signal).toBe("SIGKILL");
  return acksIn(writer.lines);
}

describe.each(["each", "batch"] as const)("durability %s", (durability) => {
  it("loses no acknowledged entry when the writer is killed, again and again on one log", scaledTest, async () => {
    const kills = scaledCount(`writers killed under ${durability}`, 200);
    const directory = logFolder();
    for (let kill = 0; kill < kills; kill += 1) {
      const acks = await killWriter(directory, durability, 1 + ((kill * 37) % 150), kill % 3 === 0 ? 5_000 : 20);
      const report = await verifyLog(directory, { strict: true });
      expect(report.problems).toEqual([]);
      const [first, last] = [acks[0], acks.at(-1)];
      const kept = new Map((await entriesOf(directory, { from: first?.sequence })).map(({ seq, hash }) => [seq, hash]));
      for (const { sequence, hash } of acks) expect(kept.get(sequence)).toBe(hash);
      expect(report.head?.sequence).toBeGreaterThanOrEqual(last?.sequence ?? 0);
    }
    await using chain = await open(directory, { now: Date.now });
    expect(chain.head.sequence).toBeGreaterThan(kills);
  });
});

describe("durability none", () => {
  it(
    "may lose acknowledged entries when the writer is killed, and what is left is a whole log",
    scaledTest,
    async () => {
      const kills = scaledCount("writers killed under none", 200);
      const directory = logFolder();
      for (let kill = 0; kill < kills; kill += 1) {
        const acks = await killWriter(directory, "none", 1 + ((kill * 37) % 150), 20);
        const report = await verifyLog(directory, { strict: true });
        expect(report.problems).toEqual([]);
        const kept = new Map((await entriesOf(directory)).map(({ seq, hash }) => [seq, hash]));
        // What is there under an acknowledged number is the acknowledged entry; at most one turn's worth is not there.
        for (const { sequence, hash } of acks) expect([hash, undefined]).toContain(kept.get(sequence));
        expect((acks.at(-1)?.sequence ?? 0) - (report.head?.sequence ?? 0)).toBeLessThanOrEqual(16);
      }
    },
  );
});
