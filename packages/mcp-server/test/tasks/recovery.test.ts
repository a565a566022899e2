import { describe, expect, it } from "vitest";
import type { TaskWatcher } from "../../src/tasks/tasks.js";
import { watchTasks } from "../../src/tasks/watching.js";
import { createMemoryTaskStore, type TaskStore } from "../../src/tasks.js";
import { errorOf } from "../support/client.js";
import { record } from "../support/task-record.js";
import { createGate, knowsTasks, manualTime, openTaskClient, taskServer, taskTool } from "../support/task-server.js";

const lookup = (taskId: string): readonly ["tasks/get", { readonly taskId: string }, typeof knowsTasks] => [
  "tasks/get",
  { taskId },
  knowsTasks,
];

describe("a server that starts over tasks from before", () => {
  it("declares dead what had not ended, keeps the ends, removes what has expired, and counts all of it", async () => {
    const time = manualTime();
    const store = createMemoryTaskStore();
    const before = { createdAt: time.now() - 10_000, updatedAt: time.now() - 10_000, tool: "quick" };
    const asked = { askedKeys: ["a"], inputRequests: { a: { method: "roots/list" } } } as const;
    await store.create(record("working", before));
    await store.create(record("asking", { ...before, ...asked, status: "input_required", statusMessage: "half" }));
    await store.create(record("done", { ...before, status: "completed", result: { content: [] } }));
    await store.create(record("old", { ...before, ttlMs: 10_000 }));
    await store.create(record("gone", { ...before, tool: "was-removed" }));
    const limits = { maxTasks: 5, maxTasksPerPrincipal: 5 };
    const server = taskServer({ tasks: { store, limits }, now: time.now, scheduler: time.scheduler });
    const client = openTaskClient(server);
    for (const taskId of ["working", "asking"]) {
      const task = await client.get(taskId);
      expect(task).toMatchObject({
        status: "failed",
        statusMessage: "The server was restarted",
        error: { code: -32603 },
      });
      expect(task).not.toHaveProperty("inputRequests");
    }
    expect(await client.get("done")).toMatchObject({ status: "completed", result: { content: [] } });
    for (const taskId of ["old", "gone"]) expect(errorOf(await client.askModern(...lookup(taskId))).code).toBe(-32602);
    await time.pass(1);
    expect(await store.read("old")).toBeUndefined();
    await client.start("quick");
    expect(errorOf(await client.askModern("tools/call", { name: "quick" }, knowsTasks))).toMatchObject({
      data: { limit: 5 },
    });
    await time.pass(50_000);
    for await (const { taskId } of store.list()) expect(["working", "asking", "done", "gone"]).not.toContain(taskId);
  });

  it("does so from the beginning when it was interrupted, and counts nothing twice", async () => {
    const inner = createMemoryTaskStore();
    for (const id of ["a", "b"]) await inner.create(record(id, { createdAt: Date.now(), tool: "quick" }));
    let fails = true;
    const store: TaskStore = {
      ...inner,
      async *list() {
        for await (const one of inner.list()) {
          yield one;
          if (fails) throw new Error("the disk is gone");
        }
      },
    };
    const client = openTaskClient(taskServer({ tasks: { store, limits: { maxTasksPerPrincipal: 3 } } }));
    await expect(client.get("a")).rejects.toThrow("the disk is gone");
    fails = false;
    for (const id of ["a", "b"]) expect(await client.get(id)).toMatchObject({ status: "failed" });
    await client.start("quick");
  });

  it("refuses a store that somebody else writes to", async () => {
    const inner = createMemoryTaskStore();
    await inner.create(record("a", { createdAt: Date.now(), tool: "quick" }));
    const store: TaskStore = { ...inner, update: async () => false };
    const client = openTaskClient(taskServer({ tasks: { store } }));
    await expect(client.get("a")).rejects.toThrow("somebody else writes to this store of tasks");
  });
});

describe("a task that somebody else has written", () => {
  it("is no longer this server's: its handler is aborted, and what was written stands", async () => {
    const store = createMemoryTaskStore();
    const gate = createGate();
    const reasons: unknown[] = [];
    const tool = taskTool("tells", async ({ progress, signal }) => {
      signal.addEventListener("abort", () => void reasons.push(signal.reason.message));
      await gate.opened;
      progress(1);
      return "done";
    });
    const client = openTaskClient(taskServer({ tools: [tool], tasks: { store } }));
    const taskId = await client.start("tells");
    const stored = await store.read(taskId);
    if (stored === undefined) throw new Error("the task is not stored");
    await store.update({ ...stored, version: 7, statusMessage: "mine now" }, stored.version);
    gate.open("");
    for (let tick = 0; tick < 5; tick += 1) await new Promise(setImmediate);
    expect(reasons).toEqual(["the task was changed by somebody else"]);
    expect(await client.get(taskId)).toMatchObject({ status: "working", statusMessage: "mine now" });
  });
});

describe("what a listener is told", () => {
  it("never goes back: the state of the beginning that is read too late is left out", async () => {
    const reading = createGate();
    const told: unknown[] = [];
    const watchers: TaskWatcher[] = [];
    // An inner part, since no store and no server can be made to order these two.
    const tasks = {
      run: () => Promise.reject(new Error("not asked for")),
      read: () => reading.opened.then(() => record("t")),
      live: () => undefined,
      cancel: async () => undefined,
      watch(_: string, watcher: TaskWatcher) {
        watchers.push(watcher);
        return () => undefined;
      },
      close: async () => undefined,
    };
    const end = watchTasks<string>(
      tasks,
      ["t"],
      () => true,
      ({ status }, droppable) => void told.push(status, droppable),
    );
    for (const watcher of watchers) watcher(record("t", { version: 2, status: "cancelled" }), false);
    reading.open("");
    await new Promise(setImmediate);
    expect(told).toEqual(["cancelled", false]);
    end();
    for (const watcher of watchers) watcher(record("t", { version: 3 }), true);
    expect(told).toEqual(["cancelled", false]);
  });
});
