import { describe, expect, it } from "vitest";
import type { RequestEvent } from "../../src/index.js";
import { createMemoryTaskStore, type TaskStore } from "../../src/tasks.js";
import { errorOf, openClient, resultOf } from "../support/client.js";
import { createGate, knowsTasks, manualTime, openTaskClient, taskServer, taskTool } from "../support/task-server.js";

const extension = "io.modelcontextprotocol/tasks";

describe("a call that becomes a task", () => {
  it("is answered with the task, flat, which can be read at once, and later with what the call returned", async () => {
    const time = manualTime();
    const gate = createGate();
    const tool = taskTool("slow", () => gate.opened, {
      task: { support: "optional", ttlMs: 5_000, pollIntervalMs: 50 },
    });
    const client = openTaskClient(taskServer({ tools: [tool], now: time.now, scheduler: time.scheduler }));
    const created = await client.call("slow");
    const { taskId, _meta, resultType, ...seed } = created;
    const times = { createdAt: "2026-07-28T00:00:00.000Z", lastUpdatedAt: "2026-07-28T00:00:00.000Z" };
    expect(resultType).toBe("task");
    expect(seed).toEqual({ status: "working", ...times, ttlMs: 5_000, pollIntervalMs: 50 });
    expect(taskId).toMatch(/^[\w-]{32}$/);
    expect(_meta).toMatchObject({ "io.modelcontextprotocol/serverInfo": { name: "tasks" } });
    expect(await client.get(String(taskId))).toEqual({ ...created, resultType: "complete" });
    await time.pass(1_000);
    gate.open("42");
    const done = await client.until(String(taskId), "completed");
    expect(done).toMatchObject({ lastUpdatedAt: "2026-07-28T00:00:01.000Z", resultType: "complete" });
    expect(done["result"]).toMatchObject({ resultType: "complete", content: [{ type: "text", text: "42" }] });
    expect(done).not.toHaveProperty("error");
    expect(done).not.toHaveProperty("inputRequests");
  });

  it.each([
    {
      name: "tool-error",
      outcome: "tool-error",
      status: "completed",
      is: { result: { isError: true, content: [{ text: "no" }] } },
    },
    {
      name: "safe-error",
      outcome: "tool-error",
      status: "completed",
      is: { result: { isError: true, content: [{ text: "the disk is full" }] } },
    },
    {
      name: "refuses",
      outcome: "protocol-error",
      status: "failed",
      is: { error: { code: -7, message: "not today", data: { day: 1 } } },
    },
    {
      name: "breaks",
      outcome: "failure",
      status: "failed",
      is: { error: { code: -32603, message: "Internal error" } },
    },
  ])("whose handler ends as '$name' is $status, with what the call would have been answered", async (row) => {
    const unexpected: unknown[] = [];
    const events: RequestEvent<string>[] = [];
    const server = taskServer({
      tasks: { onUnexpectedError: (error, task) => void unexpected.push(error, task) },
      observers: [(event) => void events.push(event)],
    });
    const client = openTaskClient(server);
    const taskId = await client.start(row.name);
    const task = await client.until(taskId, "completed", "failed");
    expect(task).toMatchObject({ status: row.status, ...row.is });
    expect(JSON.stringify(task)).not.toContain("hunter2");
    const [created, ended] = events.filter(({ method }) => method === "tools/call");
    expect(created).toMatchObject({ outcome: "success", task: { taskId, stage: "created" }, principal: "ada" });
    expect(ended).toMatchObject({
      outcome: row.outcome,
      sequence: created?.sequence,
      name: row.name,
      task: { taskId, stage: "ended" },
    });
    if (row.name !== "breaks") expect(unexpected).toEqual([]);
    else expect(unexpected).toEqual([new Error("the password is hunter2"), { taskId, tool: "breaks" }]);
  });

  it("does not exist for clients that did not declare the extension: they wait, or get -32021 when the tool must be a task", async () => {
    const server = taskServer();
    const client = openClient(server);
    for (const capabilities of [
      {},
      { extensions: {} },
      { extensions: { [extension]: 3 } },
      { extensions: [extension] },
    ]) {
      expect(resultOf(await client.askModern("tools/call", { name: "quick" }, capabilities))).toMatchObject({
        resultType: "complete",
        content: [{ text: "done" }],
      });
      const requiredCapabilities = { extensions: { [extension]: {} } };
      expect(errorOf(await client.askModern("tools/call", { name: "must" }, capabilities))).toMatchObject({
        code: -32021,
        data: { requiredCapabilities },
      });
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        expect(
          errorOf(await client.askModern(method, { taskId: "x", inputResponses: {} }, capabilities)),
        ).toMatchObject({
          code: -32021,
          data: { requiredCapabilities },
        });
      }
    }
  });

  it("does not exist before 2026-07-28: whatever the tool says, the call is ordinary, and there are no methods for tasks", async () => {
    const client = openClient(taskServer());
    for (const capabilities of [knowsTasks, {}]) {
      const opened = resultOf(await client.initialize("2025-11-25", capabilities));
      expect(JSON.stringify(opened)).not.toContain(extension);
      for (const name of ["quick", "must"]) {
        expect(resultOf(await client.ask("tools/call", { name }))).toEqual({
          content: [{ type: "text", text: "done" }],
        });
      }
    }
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"]) {
      expect(errorOf(await client.ask(method, { taskId: "x" })).code).toBe(-32601);
    }
  });

  it("is announced in the discovery only when a tool can become one, and no tool does because a client hints at it", async () => {
    const discover = async (tools: readonly ReturnType<typeof taskTool>[]): Promise<unknown> =>
      resultOf(await openClient(taskServer({ tools })).askModern("server/discover"))["capabilities"];
    expect(await discover([taskTool("a", () => "a")])).toMatchObject({ extensions: { [extension]: {} } });
    expect(await discover([taskTool("a", () => "a", { task: undefined })])).not.toHaveProperty("extensions");
    const client = openTaskClient(taskServer());
    expect(await client.call("plain", { task: { ttl: 1_000 } })).toMatchObject({ resultType: "complete" });
    const without = openTaskClient(taskServer({ tools: [taskTool("a", () => "a", { task: undefined })] }));
    expect(errorOf(await without.askModern("tasks/get", { taskId: "x" }, knowsTasks)).code).toBe(-32601);
    for (const method of ["tasks/result", "tasks/list"]) {
      expect(errorOf(await client.askModern(method, { taskId: "x" }, knowsTasks)).code).toBe(-32601);
    }
  });

  it("shows progress as its message, sends neither progress nor log, and keeps the newest of many", async () => {
    const gate = createGate();
    const tool = taskTool("steps", async ({ progress, log }) => {
      for (let step = 1; step <= 1_000; step += 1) progress(step, 1_000);
      progress(5, 1_000, "back");
      log("emergency", "fire");
      return gate.opened;
    });
    const inner = createMemoryTaskStore();
    let writes = 0;
    const store: TaskStore = {
      ...inner,
      update(record, version) {
        writes += 1;
        return inner.update(record, version);
      },
    };
    const client = openTaskClient(taskServer({ tools: [tool], tasks: { store } }));
    const meta = { progressToken: "p", "io.modelcontextprotocol/logLevel": "debug" };
    const { taskId } = resultOf(await client.askModern("tools/call", { name: "steps" }, knowsTasks, meta));
    await new Promise(setImmediate);
    expect(await client.get(String(taskId))).toMatchObject({ status: "working", statusMessage: "1000/1000" });
    expect(writes).toBe(1);
    gate.open("end");
    await client.until(String(taskId), "completed");
    expect(client.sent).toEqual([]);
  });
});

describe("the result of a task", () => {
  it("is what the handler returned, though it changes it later and the store is slow", async () => {
    const inner = createMemoryTaskStore();
    const store: TaskStore = {
      ...inner,
      async update(record, version) {
        await new Promise(setImmediate);
        return inner.update(record, version);
      },
    };
    const returned = { n: 1 };
    const tool = taskTool("changes", () => {
      queueMicrotask(() => {
        setImmediate(() => {
          returned.n = 2;
        });
      });
      return { structuredContent: returned };
    });
    const client = openTaskClient(taskServer({ tools: [tool], tasks: { store } }));
    const task = await client.until(await client.start("changes"), "completed");
    expect(task["result"]).toMatchObject({ structuredContent: { n: 1 } });
  });
});

describe("a handler that decides when its call becomes a task", () => {
  it("asks in rounds of the call first, and is a task after that, without what belongs to the rounds", async () => {
    const client = openTaskClient(taskServer());
    const asked = await client.call("asks-first");
    expect(asked).toMatchObject({ resultType: "input_required", inputRequests: { name: {} } });
    expect(asked).not.toHaveProperty("taskId");
    const { requestState } = asked;
    const answer = { action: "accept", content: { name: "Ada" } };
    const created = await client.call("asks-first", {
      requestState: String(requestState),
      inputResponses: { name: answer },
    });
    expect(created).toMatchObject({ resultType: "task", status: "working" });
    expect(created).not.toHaveProperty("requestState");
    expect(created).not.toHaveProperty("inputRequests");
    const done = await client.until(String(created["taskId"]), "completed");
    expect(done["result"]).toMatchObject({ content: [{ text: 'true {"name":"Ada"}' }] });
  });

  it("answers with its result when it starts no task, or cannot", async () => {
    let starts = false;
    const begins = { support: "optional", begins: "when-started" } as const;
    const tool = taskTool("maybe", async ({ startTask }) => `task: ${starts && (await startTask())}`, { task: begins });
    const server = taskServer({
      tools: [tool, taskTool("never", async ({ startTask }) => `${await startTask()}`, { task: undefined })],
    });
    const client = openTaskClient(server);
    expect(await client.call("maybe")).toMatchObject({ resultType: "complete", content: [{ text: "task: false" }] });
    expect(await client.call("never")).toMatchObject({ content: [{ text: "false" }] });
    starts = true;
    expect(await client.call("maybe")).toMatchObject({ resultType: "task" });
    const unaware = await openClient(server).askModern("tools/call", { name: "maybe" });
    expect(resultOf(unaware)).toMatchObject({ content: [{ text: "task: false" }] });
  });

  it("gets one task however often it starts it, also when it does not wait, and none after it has asked the client in vain", async () => {
    const begins = { task: { support: "optional", begins: "when-started" } } as const;
    const store = createMemoryTaskStore();
    const server = taskServer({
      tasks: { store },
      tools: [
        taskTool(
          "hasty",
          ({ startTask }) => {
            void startTask();
            void startTask();
            return "done";
          },
          begins,
        ),
        taskTool(
          "confused",
          async ({ requestInput, startTask }) => {
            await requestInput({ root: { method: "roots/list" } }).catch(() => undefined);
            await startTask();
            return "done";
          },
          begins,
        ),
      ],
    });
    const client = openTaskClient(server);
    const taskId = await client.start("hasty");
    expect(await client.until(taskId, "completed")).toMatchObject({ result: { content: [{ text: "done" }] } });
    const capabilities = { ...knowsTasks, roots: {} };
    const asked = resultOf(await client.askModern("tools/call", { name: "confused" }, capabilities));
    expect(asked).toMatchObject({ resultType: "input_required" });
    expect(asked).not.toHaveProperty("taskId");
    const kept: string[] = [];
    for await (const record of store.list()) kept.push(record.taskId);
    expect(kept).toEqual([taskId]);
  });
});
