import assert from "node:assert/strict";
import type { ContractCheck } from "./check.js";
import { withOpened } from "./check.js";
import { checkRandomWrites } from "./store-model.js";
import { assertRecords, assertRefused, type StoreSubject, sampleRecord, shownRecord } from "./store-subject.js";

/** How a store is checked. */
export interface StoreContractOptions {
  /** Where the random writes begin. Default 1. */
  readonly seed?: number | undefined;
  /** Sequences of random writes, each in a store of its own: default 20. */
  readonly rounds?: number | undefined;
}

/** What every LeaseStore keeps. `open` gives a fresh, empty store each time. */
export function leaseStoreContract(
  open: () => Promise<StoreSubject> | StoreSubject,
  { seed = 1, rounds = 20 }: StoreContractOptions = {},
): readonly ContractCheck[] {
  const check = (name: string, run: (subject: StoreSubject) => Promise<void>): ContractCheck => ({
    name,
    run: () => withOpened(open, run),
  });
  return [
    ...Object.entries(checks).map(([name, run]) => check(name, run)),
    {
      name: "does what the model does under random writes",
      async run() {
        for (let round = 0; round < rounds; round += 1) {
          await withOpened(open, (subject) => checkRandomWrites(subject, seed + round));
        }
      },
    },
  ];
}

const checks: Readonly<Record<string, (subject: StoreSubject) => Promise<void>>> = {
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
  async "closes twice, and refuses what comes later"({ store }) {
    await store.insert(sampleRecord(1));
    await Promise.all([store.close(), store.close()]);
    await store.close();
    store.touch(sampleRecord(1).id, 5);
    for (const call of [
      () => store.insert(sampleRecord(2)),
      () => store.update(sampleRecord(1).id, 1, { lastError: "x" }),
      () => store.get(sampleRecord(1).id),
      () => store.list(),
      () => store.listDue(1),
      () => store.prune(1),
    ]) {
      await assertRefused(call(), "STORE_CLOSED", call.toString());
    }
  },
  async "keeps every resolved write when it is opened again"({ store, reopen }) {
    if (reopen === undefined) return;
    const record = sampleRecord(1);
    await store.insert(record);
    const active = await store.update(record.id, 1, { state: "active" });
    await store.insert(sampleRecord(2));
    await store.close();
    const again = await reopen();
    try {
      assertRecords(await again.list(), [active, sampleRecord(2)], "the rows of before");
      await assertRefused(
        again.update(record.id, 1, { lastError: "x" }),
        "GENERATION_STALE",
        "the generation of before",
      );
      await assertRefused(again.insert(sampleRecord(2)), undefined, "the id of before");
    } finally {
      await again.close();
    }
  },
  async "has one writer at a time"({ store, openSecond }) {
    if (openSecond === undefined) return;
    await assertRefused(openSecond(), "STORE_LOCKED", "a second open");
    await store.insert(sampleRecord(1));
    assertRecords(await store.list(), [sampleRecord(1)], "the first one works on");
  },
};
