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

/** Rows of `after` that are not as in `before`, and the other way round. */
function differences(before: readonly LeaseRecord[], after: readonly LeaseRecord[]): number {
  const key = ({ id, generation }: LeaseRecord): string => `${id} ${generation}`;
  const [old, now] = [new Set(before.map(key)), new Set(after.map(key))];
  return Math.max([...old].filter((row) => !now.has(row)).length, [...now].filter((row) => !old.has(row)).length);
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
    const bits = readFileSync(`${path}-wal`).length * 8;
    const random = createRandom(4);
    for (let round = scaledCount("bits changed in a log", 4_000); round > 0; round -= 1) {
      const copy = `${path}.${round}`;
      copyTo(copy);
      const bit = random.below(bits);
      flipBit(`${copy}-wal`, bit);
      const found = await rowsOf(copy);
      if (typeof found === "string") expect(refusals, `bit ${bit}`).toContain(found);
      else expect(differences(before, found), `bit ${bit}`).toBeLessThanOrEqual(1);
    }
  }, 300_000);
});
