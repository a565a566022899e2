import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TaskRecord, TaskStore } from "../../src/tasks.js";

/** A store under test. `reopen` gives one over the same tasks, as after a restart; absent for stores that do not outlive their process. */
export interface OpenedStore {
  readonly store: TaskStore;
  readonly reopen?: (() => Promise<TaskStore>) | undefined;
  close(): Promise<void>;
}

export function record(taskId: string, more: Partial<TaskRecord> = {}): TaskRecord {
  const times = { createdAt: 1_000, updatedAt: 1_000, ttlMs: 60_000, pollIntervalMs: 500 };
  const base = { version: 1, owner: "ada", tool: "job", status: "working", askedKeys: [], inputRequests: {} } as const;
  return { taskId, ...base, ...times, ...more };
}

/** What every store of tasks has to do. */
export function taskStoreContract(name: string, open: () => Promise<OpenedStore>): void {
  const using = async (run: (opened: OpenedStore) => Promise<void>): Promise<void> => {
    const opened = await open();
    try {
      await run(opened);
    } finally {
      await opened.close();
    }
  };
  const listed = async (store: TaskStore): Promise<readonly TaskRecord[]> => {
    const records: TaskRecord[] = [];
    for await (const one of store.list()) records.push(one);
    return records.sort((a, b) => (a.taskId < b.taskId ? -1 : 1));
  };

  describe(`${name} as a store of tasks`, () => {
    it("reads what it has kept, whatever JSON it is", () =>
      using(async ({ store, reopen }) => {
        const full = record("full", {
          status: "failed",
          statusMessage: "no \u2028 \ud83d\ude00",
          askedKeys: ["a", "__proto__"],
          error: { code: -1, message: "no", data: { deep: [1, null, "x", { y: true }] } },
        });
        await store.create(full);
        expect(await store.read("full")).toEqual(full);
        if (reopen !== undefined) expect(await (await reopen()).read("full")).toEqual(full);
      }));

    it("knows nothing of what was never created, or was removed", () =>
      using(async ({ store }) => {
        for (const id of ["absent", "", "../escape", "a/b", "__proto__", "constructor"]) {
          expect(await store.read(id)).toBeUndefined();
          expect(await store.update(record(id, { version: 2 }), 1)).toBe(false);
          await store.remove(id);
        }
        await store.create(record("a"));
        await store.remove("a");
        expect(await store.read("a")).toBeUndefined();
        expect(await listed(store)).toEqual([]);
        await store.create(record("a"));
      }));

    it("refuses a second task with the same id, and keeps the first", () =>
      using(async ({ store }) => {
        await store.create(record("a"));
        await expect(store.create(record("a", { owner: "eve" }))).rejects.toMatchObject({ code: "TASK_EXISTS" });
        expect(await store.read("a")).toMatchObject({ owner: "ada" });
      }));

    it("replaces only the version that was expected: of many writers at once, one wins", () =>
      using(async ({ store }) => {
        await store.create(record("a"));
        const writers = Array.from({ length: 20 }, (_, at) =>
          store.update(record("a", { version: 2, tool: `${at}` }), 1),
        );
        const won = (await Promise.all(writers)).flatMap((done, at) => (done ? [at] : []));
        expect(won).toHaveLength(1);
        expect(await store.read("a")).toMatchObject({ version: 2, tool: `${won[0]}` });
        expect(await store.update(record("a", { version: 2 }), 1)).toBe(false);
        expect(await store.update(record("a", { version: 3 }), 2)).toBe(true);
      }));

    it("gives out copies: who changes one changes nothing that is kept", () =>
      using(async ({ store }) => {
        const given = { ...record("a"), result: { content: ["kept"] } };
        await store.create(given);
        given.result.content[0] = "changed";
        const read = await store.read("a");
        Object.assign(Object(read?.result), { content: [] });
        expect((await store.read("a"))?.result).toEqual({ content: ["kept"] });
      }));

    it("lists each task once, also while tasks come and go", () =>
      using(async ({ store }) => {
        const ids = Array.from({ length: 50 }, (_, at) => `t${at}`);
        for (const id of ids) await store.create(record(id));
        const seen: string[] = [];
        for await (const { taskId } of store.list()) {
          seen.push(taskId);
          await store.update(record(taskId, { version: 2 }), 1);
          if (seen.length === 10) await store.create(record("late"));
        }
        expect(seen.filter((id) => id !== "late").sort()).toEqual([...ids].sort());
        expect((await listed(store)).length).toBe(51);
      }));

    it("is a map with versions, whatever is done to it in whatever order", async () => {
      const ids = fc.constantFrom("a", "b", "c");
      const step = fc.record({
        kind: fc.constantFrom("create", "update", "remove", "reopen"),
        id: ids,
        version: fc.nat(3),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), (steps) =>
          using(async ({ store: opened, reopen }) => {
            let store = opened;
            const model = new Map<string, TaskRecord>();
            for (const { kind, id, version } of steps) {
              const next = record(id, { version: version + 1 });
              if (kind === "create") {
                const created = store.create(next).then(
                  () => true,
                  () => false,
                );
                expect(await created).toBe(!model.has(id));
                if (!model.has(id)) model.set(id, next);
              }
              if (kind === "update") {
                const fits = model.get(id)?.version === version;
                expect(await store.update(next, version)).toBe(fits);
                if (fits) model.set(id, next);
              }
              if (kind === "remove") {
                await store.remove(id);
                model.delete(id);
              }
              if (kind === "reopen" && reopen !== undefined) store = await reopen();
              expect(await store.read(id)).toEqual(model.get(id));
            }
            expect(await listed(store)).toEqual([...model.values()].sort((a, b) => (a.taskId < b.taskId ? -1 : 1)));
          }),
        ),
        { numRuns: 50 },
      );
    });
  });
}
