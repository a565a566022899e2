import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { createRandom } from "../../src/contract/random.js";
import { sampleRecord } from "../../src/contract/store-subject.js";
import { isLeaseError, type LeaseRecord } from "../../src/index.js";
import { openSqliteLeaseStore } from "../../src/sqlite.js";
import { storePath } from "./store-folder.js";
import { linesOf, startWriter } from "./writers.js";

const refusals = ["STORE_DAMAGED", "STORE_VERSION_UNKNOWN"];

/** The rows, or the code of the refusal. */
async function rowsOf(path: string): Promise<readonly LeaseRecord[] | string> {
  try {
    const store = await openSqliteLeaseStore({ path });
    try {
      return await store.list();
    } finally {
      await store.close();
    }
  } catch (error) {
    if (isLeaseError(error)) return error.code;
    throw error;
  }
}

function flipBit(path: string, bit: number): void {
  const bytes = readFileSync(path);
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  writeFileSync(path, bytes, { mode: 0o600 });
}

/** What a row is known by: touches, which may be lost, are left out. */
function generationsOf(rows: readonly LeaseRecord[]): readonly string[] {
  return rows.map(({ id, generation }) => `${id} ${generation}`).sort();
}

/** A log without its last commit and what is behind it. Format: sqlite.org/fileformat2.html § 4. */
function withoutLastWrite(log: Buffer): Buffer {
  const frameBytes = 24 + log.readUInt32BE(8);
  const ends: number[] = [];
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    const isCurrent = log.subarray(at + 8, at + 16).equals(log.subarray(16, 24));
    if (isCurrent && log.readUInt32BE(at + 4) !== 0) ends.push(at + frameBytes);
  }
  return log.subarray(0, ends.at(-2) ?? 32);
}

describe("one bit that is changed", () => {
  it("anywhere in a closed store is found, or changes no row", async () => {
    const path = storePath();
    const store = await openSqliteLeaseStore({ path });
    for (let number = 1; number <= 12; number += 1) await store.insert(sampleRecord(number));
    const before = await store.list();
    await store.close();
    const bits = readFileSync(path).length * 8;
    const random = createRandom(3);
    let refused = 0;
    const count = scaledCount("bits changed in a store", 4_000);
    for (let round = 0; round < count; round += 1) {
      const copy = `${path}.${round}`;
      copyFileSync(path, copy);
      const bit = random.below(bits);
      flipBit(copy, bit);
      const found = await rowsOf(copy);
      if (typeof found === "string") expect(refusals, `bit ${bit}`).toContain(found);
      else expect(found, `bit ${bit}`).toEqual(before);
      if (typeof found === "string") refused += 1;
    }
    expect(refused).toBeGreaterThan(count / 20); // the check itself can fail: much of the file is room for more rows
  }, 300_000);

  it("anywhere in the log of a killed writer is found, or costs the last write alone", async () => {
    const path = storePath();
    const writer = startWriter(path);
    await linesOf(writer, 40);
    await writer.kill();
    const copyTo = (copy: string): void => {
      for (const suffix of ["", "-wal"]) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`);
    };
    copyTo(`${path}.whole`);
    const before = await rowsOf(`${path}.whole`);
    if (typeof before === "string") throw new Error(before);
    const log = readFileSync(`${path}-wal`);
    copyTo(`${path}.cut`);
    writeFileSync(`${path}.cut-wal`, withoutLastWrite(log), { mode: 0o600 });
    const cut = await rowsOf(`${path}.cut`);
    if (typeof cut === "string") throw new Error(cut);
    const bits = log.length * 8;
    const random = createRandom(4);
    for (let round = scaledCount("bits changed in a log", 4_000); round > 0; round -= 1) {
      const copy = `${path}.${round}`;
      copyTo(copy);
      const bit = random.below(bits);
      flipBit(`${copy}-wal`, bit);
      const found = await rowsOf(copy);
      if (typeof found === "string") expect(refusals, `bit ${bit}`).toContain(found);
      else expect([before, cut].map(generationsOf), `bit ${bit}`).toContainEqual(generationsOf(found));
    }
  }, 300_000);
});
