import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RequestEvent } from "../../src/index.js";
import { createMemoryTaskStore, type TaskStore } from "../../src/tasks.js";
import { openClient } from "../support/client.js";
import { createGate, knowsTasks, openTaskClient, taskServer, taskTool } from "../support/task-server.js";

describe("tasks/cancel", () => {
  it("aborts the handler, and leaves a task that has ended as it is", async () => {
    const client = openTaskClient(taskServer());
    const [running, done] = [await client.start("waits"), await client.start("quick")];
    const before = await client.until(done, "completed");
    for (const taskId of [running, done, running]) {
      const ack = await client.cancel(taskId);
      expect([Object.keys(ack).sort(), ack["resultType"]]).toEqual([["_meta", "resultType"], "complete"]);
    }
    expect(await client.get(running)).toMatchObject({ status: "cancelled", statusMessage: "Cancelled by the client" });
    expect(await client.get(done)).toEqual(before);
  });

  it("stands, whatever a handler that does not listen still returns or throws, and is told to observers once", async () => {
    const events: RequestEvent<string>[] = [];
    const unexpected: unknown[] = [];
    const gate = createGate();
    const server = taskServer({
      tools: [
        taskTool("deaf", () => gate.opened),
        taskTool("angry", async () => {
          await gate.opened;
          throw new Error("too late");
        }),
      ],
      observers: [(event) => void events.push(event)],
      tasks: { onUnexpectedError: (error) => void unexpected.push(error) },
    });
    const client = openTaskClient(server);
    const ids = [await client.start("deaf"), await client.start("angry")];
    for (const taskId of ids) await client.cancel(taskId);
    gate.open("late");
    await new Promise(setImmediate);
    for (const taskId of ids) expect(await client.get(taskId)).toMatchObject({ status: "cancelled" });
    const ended = events.filter(({ task }) => task?.stage === "ended");
    expect(ended.map(({ outcome, task }) => [outcome, task?.taskId])).toEqual(ids.map((id) => ["cancelled", id]));
    expect(unexpected).toEqual([]);
  });

  it("is not notifications/cancelled: once the call is answered, that names nothing", async () => {
    const client = openTaskClient(taskServer());
    const taskId = await client.start("waits");
    for (const requestId of [1, taskId]) await client.notify("notifications/cancelled", { requestId });
    await client.connection.close();
    const later = openTaskClient(taskServer());
    expect(later.sent).toEqual([]);
  });

  it("does not outlive the client's connection, since a task does: another connection of the principal finds it", async () => {
    const server = taskServer();
    const first = openTaskClient(server);
    const taskId = await first.start("waits");
    await first.connection.close();
    const second = openTaskClient(server);
    expect(await second.get(taskId)).toMatchObject({ status: "working" });
    await second.cancel(taskId);
    expect(await second.get(taskId)).toMatchObject({ status: "cancelled" });
  });

  it("is also what becomes of a task when its call is cancelled before it is answered", async () => {
    const stored = createGate();
    const inner = createMemoryTaskStore();
    const created: string[] = [];
    const store: TaskStore = {
      ...inner,
      async create(record) {
        await inner.create(record);
        created.push(record.taskId);
        await stored.opened;
      },
    };
    let runs = 0;
    const server = taskServer({ tools: [taskTool("counts", () => `${++runs}`)], tasks: { store } });
    const client = openClient(server);
    const answer = client.askModern("tools/call", { name: "counts" }, knowsTasks);
    await new Promise(setImmediate);
    await client.notify("notifications/cancelled", { requestId: 1 });
    stored.open("");
    expect(await answer).toBeUndefined();
    expect(runs).toBe(0);
    expect(await inner.read(String(created[0]))).toBeUndefined();
  });
});

describe("cancellation and end", () => {
  it("race to one of the two, stay there, and agree with what observers and listeners hear", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom("cancel", "finish", "tick"), { maxLength: 12 }), async (steps) => {
        const events: RequestEvent<string>[] = [];
        const gate = createGate();
        const slow = createMemoryTaskStore();
        const store: TaskStore = {
          ...slow,
          async update(record, version) {
            await new Promise(setImmediate);
            return slow.update(record, version);
          },
        };
        const tools = [taskTool("gated", () => gate.opened)];
        const server = taskServer({ tools, tasks: { store }, observers: [(event) => void events.push(event)] });
        const client = openTaskClient(server);
        const taskId = await client.start("gated");
        await client.listen(taskId);
        const acks: Promise<unknown>[] = [];
        for (const step of [...steps, "finish", "cancel"]) {
          if (step === "cancel") acks.push(client.cancel(taskId));
          if (step === "finish") gate.open("done");
          if (step === "tick") await new Promise(setImmediate);
        }
        await Promise.all(acks);
        const end = await client.until(taskId, "completed", "cancelled");
        for (let tick = 0; tick < 5; tick += 1) await new Promise(setImmediate);
        expect(await client.get(taskId)).toEqual(end);
        const told = client.sent
          .filter(({ method }) => method === "notifications/tasks")
          .map(({ params }) => Object(params));
        expect(told.map(({ status }) => status).filter((status) => status !== "working")).toEqual([end["status"]]);
        const outcomes = events.filter(({ task }) => task?.stage === "ended").map(({ outcome }) => outcome);
        expect(outcomes).toEqual([end["status"] === "completed" ? "success" : "cancelled"]);
        expect("result" in end).toBe(end["status"] === "completed");
      }),
      { numRuns: 100 },
    );
  });
});
