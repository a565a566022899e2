import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createMemoryTaskStore } from "../../src/tasks.js";
import { openFileTaskStore } from "../support/file-task-store.js";
import { record, taskStoreContract } from "./task-store.contract.js";

taskStoreContract("memory", async () => ({ store: createMemoryTaskStore(), close: async () => undefined }));

taskStoreContract("a folder of JSON files", async () => {
  const folder = await mkdtemp(join(tmpdir(), "task-store-"));
  return {
    store: await openFileTaskStore(folder),
    reopen: () => openFileTaskStore(folder),
    close: () => rm(folder, { recursive: true }),
  };
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
