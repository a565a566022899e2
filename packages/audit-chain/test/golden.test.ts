import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { type EntryInput, verifyLog } from "../src/index.js";
import { open, scratch, segmentsOf, tickingClock } from "./scratch.js";

const golden = fileURLToPath(new URL("../../../fixtures/audit/golden/", import.meta.url));

/** Entries with everything that canonical form has an opinion on. */
const entries: readonly EntryInput[] = [
  { type: "session.open", session: "s1", client: 'quotes " and \\ and /', tab: "a\tb\u0007\u007f" },
  {
    type: "spawn",
    session: "s1",
    server: "files",
    env: ["LANG", "PATH"],
    numbers: [0, -1.5, 1e-7, 9007199254740991, 1e-27],
  },
  {
    type: "call.intent",
    session: "s1",
    "\u00fc": "\u00e9\u20ac\u{1f602}",
    "\uff5e": 1,
    "\u{1f602}": 2,
    "10": null,
    "1": true,
  },
  { type: "call.outcome", session: "s1", intent: 3, nested: { b: { d: [], c: {} }, a: [[null, false]] } },
  ...Array.from({ length: 16 }, (_, index) => ({ type: "note", session: "s1", index, pad: "x".repeat(9_000) })),
  { type: "session.close", session: "s1" },
];

async function write(directory: string): Promise<void> {
  const options = { logId: "golden", maxSegmentBytes: 131_072, now: tickingClock() };
  const chain = await open(directory, options);
  for (const entry of entries) await chain.append(entry);
  await chain.close();
}

it("the writer still writes the golden log, byte for byte, and the verifier still takes it", async () => {
  const directory = join(scratch(), "golden");
  await write(directory);
  if (process.env["BERTH_REWRITE_GOLDEN"] === "1") {
    rmSync(golden, { recursive: true, force: true });
    for (const name of segmentsOf(directory)) cpSync(join(directory, name), join(golden, name));
  }
  expect(existsSync(golden)).toBe(true);
  expect(segmentsOf(golden)).toEqual(segmentsOf(directory));
  for (const name of segmentsOf(golden)) {
    expect(readFileSync(join(directory, name)).equals(readFileSync(join(golden, name)))).toBe(true);
  }
  expect(await verifyLog(golden, { strict: true, logId: "golden" })).toMatchObject({
    ok: true,
    entries: entries.length,
    segments: 3,
    notices: [],
  });
});
