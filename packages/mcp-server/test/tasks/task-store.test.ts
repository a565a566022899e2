import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type OpenedTaskStore, taskStoreContract } from "../../src/contracts.js";
import { createMemoryTaskStore } from "../../src/tasks.js";
import { openFileTaskStore } from "../support/file-task-store.js";
import { record } from "../support/task-record.js";

interface OpenedFolder extends OpenedTaskStore {
  readonly folder: string;
}
const openFolder = async (): Promise<OpenedFolder> => {
  const folder = await mkdtemp(join(tmpdir(), "task-store-"));
  return { store: await openFileTaskStore(folder), folder, close: () => rm(folder, { recursive: true }) };
};

describe("the store in memory, as a store of tasks", () => {
  const openSmall = () => ({ store: createMemoryTaskStore({ maxBytes: 100_000 }) });
  const checks = taskStoreContract(() => ({ store: createMemoryTaskStore() }), { openSmall, rounds: 200 });
  it.each(checks)("$name", ({ run }) => run());
});

describe("a folder of JSON files, as a store of tasks", () => {
  const reopen = ({ folder }: OpenedFolder) => openFileTaskStore(folder);
  it.each(taskStoreContract(openFolder, { reopen }))("$name", ({ run }) => run());
});

describe.each([
  { name: "memory", open: async (): Promise<OpenedTaskStore> => ({ store: createMemoryTaskStore() }) },
  { name: "a folder", open: openFolder },
])("a store in $name", ({ open }) => {
  it("gives any JSON back as it was given, as result, as data of an error and as parameters of a question", async () => {
    const { store, close } = await open();
    let count = 0;
    const property = fc.asyncProperty(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), async (given) => {
      const json = JSON.parse(JSON.stringify(given));
      const error = { code: -1, message: "no", data: json };
      const inputRequests = { key: { method: "elicitation/create", params: json } } as const;
      count += 1;
      const kept = record(`any-${count}`, { result: json, error, inputRequests });
      await store.create(kept);
      expect(await store.read(kept.taskId)).toEqual(kept);
    });
    await fc.assert(property, { numRuns: 50 });
    await close?.();
  });
});

describe("the store in memory", () => {
  it("is bounded in bytes, counts what is freed, and changes nothing when it refuses", async () => {
    const store = createMemoryTaskStore({ maxBytes: 1_024 });
    await store.create(record("a"));
    const large = { status: "completed", result: { text: "é".repeat(500) } } as const;
    await expect(store.update(record("a", { version: 2, ...large }), 1)).rejects.toMatchObject({
      code: "TASK_STORE_FULL",
    });
    expect(await store.read("a")).toEqual(record("a"));
    for (let at = 0; at < 100; at += 1) {
      await store.create(record("b", { statusMessage: "x".repeat(300) }));
      await expect(store.create(record("c", { statusMessage: "x".repeat(300) }))).rejects.toMatchObject({
        name: "TaskStoreError",
      });
      await store.remove("b");
    }
  });

  it("refuses limits that are none", () => {
    expect(() => createMemoryTaskStore({ maxBytes: 1 })).toThrow(RangeError);
    expect(() => createMemoryTaskStore(JSON.parse('{"maxBites":1}'))).toThrow(TypeError);
  });
});
