import { assertRecords, assertRefused, type StoreCheck, sampleRecord } from "./store-subject.js";

/** A store is opened by one writer, closed, and opened again. */
export const lifeChecks: Readonly<Record<string, StoreCheck>> = {
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
