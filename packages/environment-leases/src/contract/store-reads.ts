import assert from "node:assert/strict";
import { assertRecords, assertRefused, type StoreCheck, sampleRecord, shownRecord } from "./store-subject.js";

/** Rows are given back as they were written, found again, and forgotten. */
export const readChecks: Readonly<Record<string, StoreCheck>> = {
  async "gives back a row as it was written, with every member"({ store }) {
    for (const number of [1, 2]) {
      const record = sampleRecord(number);
      await store.insert(record);
      assert.deepEqual(shownRecord(await store.get(record.id)), shownRecord(record));
    }
    const warm = sampleRecord(3, { owner: undefined, labels: {} });
    await store.insert(warm);
    assert.deepEqual(shownRecord(await store.get(warm.id)), shownRecord(warm));
  },
  async "knows nothing of an id that was never written"({ store }) {
    assert.equal(await store.get(sampleRecord(1).id), undefined);
    assert.deepEqual(await store.list(), []);
    await assertRefused(store.update(sampleRecord(1).id, 1, { expiresAt: 1 }), "LEASE_NOT_FOUND", "an unknown id");
    store.touch(sampleRecord(1).id, 5);
    assert.equal(await store.get(sampleRecord(1).id), undefined);
  },
  async "notes use without a new generation"({ store }) {
    const record = sampleRecord(1);
    await store.insert(record);
    store.touch(record.id, record.lastUsedAt + 77);
    const seen = await store.get(record.id);
    assert.deepEqual([seen?.lastUsedAt, seen?.generation], [record.lastUsedAt + 77, 1]);
    const next = await store.update(record.id, 1, { lastError: "x" });
    assert.equal(next.lastUsedAt, record.lastUsedAt + 77);
  },
  async "lists in order of creation, by owner and by state"({ store }) {
    const records = [5, 3, 9, 1].map((number) => sampleRecord(number));
    for (const record of records) await store.insert(record);
    assertRecords(await store.list(), records, "all");
    const active = await store.update(sampleRecord(9).id, 1, { state: "active" });
    assertRecords(await store.list({ states: ["active"] }), [active], "by state");
    assertRecords(await store.list({ states: [] }), [], "no state fits an empty list");
    const { owner } = sampleRecord(3);
    assertRecords(await store.list({ owner }), [sampleRecord(3), active], "by owner");
    assertRecords(await store.list({ owner, states: ["reserved"] }), [sampleRecord(3)], "by both");
    assertRecords(await store.list({ owner: "nobody" }), [], "by an owner without leases");
  },
  async "lists what is due: expired, idle for too long, or releasing"({ store }) {
    const now = 2_000_000_000_000;
    const rows = {
      fresh: sampleRecord(2, { expiresAt: now + 1, lastUsedAt: now }),
      expired: sampleRecord(4, { expiresAt: now }),
      idle: sampleRecord(6, { expiresAt: now + 9, idleMs: 1_000, lastUsedAt: now - 1_000 }),
      used: sampleRecord(8, { expiresAt: now + 9, idleMs: 1_000, lastUsedAt: now - 999 }),
      releasing: sampleRecord(10, { expiresAt: now + 9 }),
      released: sampleRecord(12, { expiresAt: now - 9 }),
    };
    for (const record of Object.values(rows)) await store.insert(record);
    for (const { id } of [rows.releasing, rows.released]) await store.update(id, 1, { state: "releasing" });
    await store.update(rows.released.id, 2, { state: "released", endedAt: now });
    const due = (await store.listDue(now)).map(({ id }) => id);
    assert.deepEqual(due, [rows.expired.id, rows.idle.id, rows.releasing.id]);
    store.touch(rows.idle.id, now);
    assert.equal((await store.listDue(now)).length, 2);
  },
  async "forgets terminal rows that ended before a time, and only these"({ store }) {
    for (const number of [1, 2, 3]) await store.insert(sampleRecord(number));
    for (const number of [1, 2]) {
      await store.update(sampleRecord(number).id, 1, { state: "releasing" });
      await store.update(sampleRecord(number).id, 2, { state: "released", endedAt: 100 + number });
    }
    assert.equal(await store.prune(102), 1);
    assert.deepEqual(
      (await store.list()).map(({ id }) => id),
      [sampleRecord(2).id, sampleRecord(3).id],
    );
    assert.equal(await store.prune(Number.MAX_SAFE_INTEGER), 1);
    assertRecords(await store.list(), [sampleRecord(3)], "a living row stays");
    await store.insert(sampleRecord(1));
  },
  async "gives rows that nobody can change behind its back"({ store }) {
    const record = sampleRecord(1);
    const labels: Record<string, string> = { ...record.labels };
    await store.insert({ ...record, labels });
    labels["name"] = "changed";
    const seen = await store.get(record.id);
    assert.equal(seen?.labels["name"], record.labels["name"]);
    assert.equal(Reflect.set(seen ?? {}, "owner", "thief") && (await store.get(record.id))?.owner === "thief", false);
  },
};
