import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { createRandom } from "../../src/contract/random.js";
import { openSqliteLeaseStore, readSqliteLeases } from "../../src/sqlite.js";
import { storePath } from "./store-folder.js";
import { linesOf, startWriter } from "./writers.js";

// Programs run from dist, as they do for users.

/** The highest generation that was acknowledged for each lease; pruned ones may be gone. */
function acknowledged(lines: readonly string[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const line of lines) {
    const [, id, generation] = /^([0-9a-f]{32}) (\d)$/.exec(line) ?? [];
    if (id !== undefined) found.set(id, Number(generation));
  }
  return found;
}

async function expectNothingLost(path: string, lines: readonly string[]): Promise<void> {
  const asLeft = await readSqliteLeases(path);
  const store = await openSqliteLeaseStore({ path }); // the lock is free, and every page, row and index was checked
  const rows = new Map((await store.list()).map((record) => [record.id, record]));
  expect(asLeft?.leases ?? []).toEqual([...rows.values()]);
  await store.close();
  for (const [id, generation] of acknowledged(lines)) {
    const row = rows.get(id);
    if (row === undefined) expect(generation, `lease ${id} may have been pruned`).toBe(4);
    else expect(row.generation, id).toBeGreaterThanOrEqual(generation);
  }
}

describe("a writer that is killed", () => {
  it("at any moment of its writing loses no row that it was promised, and the lock", async () => {
    const path = storePath();
    const random = createRandom(7);
    for (let round = scaledCount("writers killed while they write", 700); round > 0; round -= 1) {
      const writer = startWriter(path);
      await linesOf(writer, 1 + random.below(60));
      await writer.kill();
      const lines = await writer.all;
      expect(lines[0]).toBe("open");
      await expectNothingLost(path, lines);
    }
  }, 600_000);

  it("at any moment of its start leaves a store that opens", async () => {
    const random = createRandom(8);
    for (let round = scaledCount("writers killed while they open", 300); round > 0; round -= 1) {
      const path = storePath();
      const writer = startWriter(path);
      // A moment of the start is what is asked for, and no event tells of one.
      const timer = setTimeout(() => void writer.kill(), 25 + random.below(60));
      await linesOf(writer, 3);
      clearTimeout(timer);
      await writer.kill();
      await expectNothingLost(path, await writer.all);
    }
  }, 600_000);

  it("is followed by the next one while it has rows in its log only", async () => {
    const path = storePath();
    const writer = startWriter(path);
    await linesOf(writer, 5);
    const locked = await openSqliteLeaseStore({ path }).catch((error: unknown) => error);
    expect(locked).toMatchObject({ code: "STORE_LOCKED" });
    expect(String(locked)).toContain(`process ${writer.pid} on`);
    expect((await readSqliteLeases(path))?.owner?.pid).toBe(writer.pid);
    await writer.kill();
    const store = await openSqliteLeaseStore({ path });
    expect((await readSqliteLeases(path))?.owner?.pid).toBe(process.pid);
    await store.close();
  });
});

describe("writers that start at once", () => {
  it("get the lock one at a time, and the others say who has it", async () => {
    for (let round = scaledCount("races for the lock", 200); round > 0; round -= 1) {
      const path = storePath();
      const writers = [startWriter(path, "hold"), startWriter(path, "hold")];
      const firsts = await Promise.all(writers.map(({ first }) => first));
      expect([...firsts].sort()).toEqual(["STORE_LOCKED", "open"]);
      await Promise.all(writers.map((writer) => writer.kill()));
    }
  }, 600_000);
});

describe("readers beside a writer", () => {
  it("see each of their moments whole", async () => {
    const path = storePath();
    const writer = startWriter(path);
    await linesOf(writer, 1);
    for (let round = scaledCount("reads beside a writer", 2_000); round > 0; round -= 1) {
      const found = await readSqliteLeases(path);
      expect(found?.owner?.pid).toBe(writer.pid);
      for (const { state, generation } of found?.leases ?? []) {
        expect(generation).toBe({ reserved: 1, active: 2, releasing: 3, released: 4, lost: 0 }[state]);
      }
    }
    await writer.kill();
  }, 120_000);
});
