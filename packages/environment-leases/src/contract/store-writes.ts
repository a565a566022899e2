import assert from "node:assert/strict";
import { assertRecords, assertRefused, type StoreCheck, sampleRecord, shownRecord } from "./store-subject.js";

/** Rows are written one generation after the other, by legal steps alone. */
export const writeChecks: Readonly<Record<string, StoreCheck>> = {
  async "refuses a second row with an id or a worker that it has"({ store }) {
    await store.insert(sampleRecord(1));
    const sameId = { ...sampleRecord(2), id: sampleRecord(1).id };
    const sameWorker = { ...sampleRecord(3), worker: sampleRecord(1).worker };
    for (const [what, record] of Object.entries({ sameId, sameWorker })) {
      const [outcome] = await Promise.allSettled([store.insert(record)]);
      assert.equal(outcome?.status, "rejected", what);
    }
    assertRecords(await store.list(), [sampleRecord(1)], "refused rows leave no trace");
  },
  async "writes a new row as generation 1 and adds 1 with each write"({ store }) {
    const record = sampleRecord(1);
    await store.insert(record);
    const active = await store.update(record.id, 1, { state: "active" });
    assert.equal(active.generation, 2);
    const renewed = await store.update(record.id, 2, { expiresAt: active.expiresAt + 5 });
    assert.deepEqual([renewed.generation, renewed.expiresAt, renewed.state], [3, active.expiresAt + 5, "active"]);
    assert.deepEqual(shownRecord(await store.get(record.id)), shownRecord(renewed));
  },
  async "leaves members as they are that a change has as undefined"({ store }) {
    const record = sampleRecord(1);
    await store.insert(record);
    const next = await store.update(record.id, 1, { labels: undefined, idleMs: undefined, lastError: "x" });
    assert.deepEqual(shownRecord(next), shownRecord({ ...record, generation: 2, lastError: "x" }));
  },
  async "refuses a write for another generation, and it changes nothing"({ store }) {
    const record = sampleRecord(1);
    await store.insert(record);
    for (const generation of [0, 2, -1]) {
      const write = store.update(record.id, generation, { state: "active" });
      await assertRefused(write, "GENERATION_STALE", `generation ${generation}`);
    }
    assert.deepEqual(shownRecord(await store.get(record.id)), shownRecord(record));
  },
  async "lets exactly one of two writes for the same generation through"({ store }) {
    const record = sampleRecord(1);
    await store.insert(record);
    const writes = ["one", "two", "three"].map((lastError) => store.update(record.id, 1, { lastError }));
    const outcomes = await Promise.allSettled(writes);
    assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
    assert.equal((await store.get(record.id))?.generation, 2);
  },
  async "never changes a terminal row"({ store }) {
    const record = sampleRecord(1);
    await store.insert(record);
    await store.update(record.id, 1, { state: "releasing", endReason: "released" });
    const ended = await store.update(record.id, 2, { state: "released", endedAt: record.createdAt + 9 });
    await assertRefused(store.update(record.id, 3, { lastError: "late" }), "LEASE_ENDED", "a write to it");
    await assertRefused(store.update(record.id, 1, { lastError: "late" }), "LEASE_ENDED", "a stale write to it");
    store.touch(record.id, 1);
    assert.deepEqual(shownRecord(await store.get(record.id)), shownRecord(ended));
  },
  async "refuses steps that no lease takes"({ store }) {
    const record = sampleRecord(1);
    await store.insert(record);
    const refused = (generation: number, change: Parameters<typeof store.update>[2], what: string): Promise<void> =>
      assertRefused(store.update(record.id, generation, change), undefined, what);
    await refused(1, { state: "released", endedAt: 1 }, "reserved → released");
    await refused(1, { state: "lost", endedAt: 1 }, "reserved → lost");
    await refused(1, { owner: "another" }, "an owner that changes");
    await store.update(record.id, 1, { state: "active" });
    await refused(2, { state: "reserved" }, "active → reserved");
    await refused(2, { expiresAt: record.expiresAt - 1 }, "an expiry that shrinks");
    await refused(2, { ceilingAt: record.ceilingAt + 1 }, "a ceiling that moves");
    await refused(2, { state: "lost" }, "an end without a time");
    assert.equal((await store.get(record.id))?.generation, 2);
  },
  async "gives an owner to a warm row once, with its activation"({ store }) {
    const warm = sampleRecord(1, { owner: undefined });
    await store.insert(warm);
    await assertRefused(store.update(warm.id, 1, { state: "active" }), undefined, "an active row without owner");
    await assertRefused(store.update(warm.id, 1, { owner: "a" }), undefined, "an owner without activation");
    const active = await store.update(warm.id, 1, { state: "active", owner: "a", expiresAt: 7, ceilingAt: 8 });
    assert.deepEqual([active.owner, active.expiresAt, active.ceilingAt], ["a", 7, 8]);
    await assertRefused(store.update(warm.id, 2, { owner: "b" }), undefined, "another owner");
  },
};
