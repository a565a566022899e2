import { describe, expect, it } from "vitest";
import { RegistrationError, type RequestEvent, RpcError } from "../../src/index.js";
import { createMemoryTaskStore, type TaskStore } from "../../src/tasks.js";
import { errorOf } from "../support/client.js";
import { createGate, knowsTasks, manualTime, openTaskClient, taskServer, taskTool } from "../support/task-server.js";

describe("the time of a task", () => {
  it("is held to the millisecond, and then nothing is left of it, though it still runs", async () => {
    const time = manualTime();
    const store = createMemoryTaskStore();
    const events: RequestEvent<string>[] = [];
    const reasons: string[] = [];
    const tool = taskTool(
      "waits",
      ({ signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason.message);
            reject(signal.reason);
          }),
        ),
      { task: { support: "optional", ttlMs: 2_000 } },
    );
    const short = taskTool("short", () => "done", { task: { support: "optional", ttlMs: 1_000 } });
    const clock = {
      now: time.now,
      scheduler: time.scheduler,
      observers: [(event: RequestEvent<string>) => void events.push(event)],
    };
    const client = openTaskClient(
      taskServer({ tools: [tool, short], tasks: { store, limits: { maxTasks: 2 } }, ...clock }),
    );
    const [long, brief] = [await client.start("waits"), await client.start("short")];
    await client.listen(long);
    expect(time.timers).toBe(1);
    await time.pass(999);
    expect(await client.get(brief)).toMatchObject({ status: "completed" });
    await time.pass(1);
    expect(errorOf(await client.askModern("tasks/get", { taskId: brief }, knowsTasks))).toEqual({
      code: -32602,
      message: "Unknown task",
    });
    expect(await store.read(brief)).toBeUndefined();
    await time.pass(999);
    expect(await client.get(long)).toMatchObject({ status: "working" });
    await time.pass(1);
    expect(reasons).toEqual(["the time of the task is over"]);
    expect(errorOf(await client.askModern("tasks/cancel", { taskId: long }, knowsTasks)).code).toBe(-32602);
    expect(await store.read(long)).toBeUndefined();
    expect(events.filter(({ task }) => task?.taskId === long).map(({ outcome }) => outcome)).toEqual([
      "success",
      "cancelled",
    ]);
    await time.pass(10_000);
    expect(time.timers).toBe(0);
  });

  it("may be longer than a timer can be, and is then held as well", async () => {
    const time = manualTime();
    const delays: number[] = [];
    const scheduler = {
      now: time.now,
      after(delayMs: number, callback: () => void) {
        delays.push(delayMs);
        return time.scheduler.after(delayMs, callback);
      },
    };
    const month = 2_592_000_000;
    const store = createMemoryTaskStore();
    const tasks = { store, limits: { defaultTtlMs: month, maxTtlMs: month } };
    const client = openTaskClient(taskServer({ tasks, now: time.now, scheduler }));
    const taskId = await client.start("quick");
    await time.pass(month - 1);
    expect(await client.get(taskId)).toMatchObject({ status: "completed" });
    await time.pass(1);
    expect(await store.read(taskId)).toBeUndefined();
    expect(Math.max(...delays)).toBeLessThanOrEqual(2_147_483_647);
    expect(time.timers).toBe(0);
  });

  it("is over before a task is stored when the store is that slow: it is not begun", async () => {
    const time = manualTime();
    const inner = createMemoryTaskStore();
    const stored = createGate();
    const store: TaskStore = {
      ...inner,
      async create(record) {
        await stored.opened;
        await inner.create(record);
      },
    };
    let runs = 0;
    const tools = [taskTool("counts", () => `${++runs}`, { task: { support: "optional", ttlMs: 1_000 } })];
    const client = openTaskClient(taskServer({ tools, tasks: { store }, now: time.now, scheduler: time.scheduler }));
    const answer = client.askModern("tools/call", { name: "counts" }, knowsTasks);
    await new Promise(setImmediate);
    await time.pass(1_000);
    stored.open("");
    expect(errorOf(await answer).code).toBe(-32603);
    expect(runs).toBe(0);
    for await (const { taskId } of inner.list()) expect(taskId).toBeUndefined();
  });

  it("is over for clients even when the store cannot remove the task, which is tried again", async () => {
    const time = manualTime();
    const inner = createMemoryTaskStore();
    let failures = 2;
    let attempts = 0;
    const store: TaskStore = {
      ...inner,
      async remove(taskId) {
        failures -= 1;
        attempts += 1;
        if (failures >= 0) throw new Error("the disk is gone");
        await inner.remove(taskId);
      },
    };
    const clock = { now: time.now, scheduler: time.scheduler };
    const client = openTaskClient(taskServer({ tasks: { store, limits: { defaultTtlMs: 1_000 } }, ...clock }));
    const taskId = await client.start("quick");
    await time.pass(1_000);
    expect(errorOf(await client.askModern("tasks/get", { taskId }, knowsTasks)).code).toBe(-32602);
    expect(await inner.read(taskId)).toBeDefined();
    await time.pass(59_999);
    expect(attempts).toBe(1);
    await time.pass(60_001);
    expect(attempts).toBe(3);
    expect(await inner.read(taskId)).toBeUndefined();
    expect(time.timers).toBe(0);
  });
});

describe("the limits of tasks", () => {
  it("hold for one principal and for all, and give room back when a task expires", async () => {
    const time = manualTime();
    const limits = { maxTasks: 3, maxTasksPerPrincipal: 2, defaultTtlMs: 1_000 };
    const server = taskServer({ tasks: { limits }, now: time.now, scheduler: time.scheduler });
    const [ada, eve] = [openTaskClient(server, "ada"), openTaskClient(server, "eve")];
    const refused = async (client: typeof ada, limit: number): Promise<void> =>
      expect(errorOf(await client.askModern("tools/call", { name: "quick" }, knowsTasks))).toMatchObject({
        code: -32603,
        data: { limit },
      });
    const both = await Promise.allSettled([ada.start("quick"), ada.start("quick"), ada.start("quick")]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "fulfilled", "rejected"]);
    await refused(ada, 2);
    await eve.start("quick");
    await refused(eve, 3);
    await time.pass(1_000);
    await ada.start("quick");
    await eve.start("quick");
  });

  it("refuse a result or an error that is too large, and one that is no JSON", async () => {
    const unexpected: unknown[] = [];
    const tools = [
      taskTool("large", () => "é".repeat(600)),
      taskTool("verbose", () => {
        throw new RpcError(-7, "a".repeat(600), { data: "b".repeat(600) });
      }),
      taskTool("circular", () => {
        const loop: { [key: string]: unknown } = {};
        loop["loop"] = loop;
        return { structuredContent: JSON.parse("{}"), _meta: Object(loop) };
      }),
    ];
    const tasks = {
      limits: { maxResultBytes: 1_024 },
      onUnexpectedError: (error: unknown) => void unexpected.push(error),
    };
    const client = openTaskClient(taskServer({ tools, tasks }));
    const large = await client.until(await client.start("large"), "failed");
    expect(large).toMatchObject({ error: { code: -32603, data: { limit: 1_024 } } });
    expect(unexpected).toEqual([]);
    const circular = await client.until(await client.start("circular"), "failed");
    const told = await client.until(await client.start("verbose"), "failed");
    expect(told["error"]).toMatchObject({ code: -7, message: "a".repeat(500), data: { limit: 1_024 } });
    expect(circular["error"]).toEqual({ code: -32603, message: "Internal error" });
    expect(unexpected).toMatchObject([{ name: "TypeError" }]);
  });

  it("are checked at the start, those of tools as well", () => {
    const problemsOf = (more: Parameters<typeof taskServer>[0]): readonly string[] => {
      try {
        taskServer(more);
        return [];
      } catch (error) {
        return error instanceof RegistrationError ? error.problems.map(({ where }) => where) : ["?"];
      }
    };
    expect(problemsOf({ tasks: { limits: { maxTasks: 0, pollIntervalMs: 9 } } })).toEqual([
      "tasks.limits",
      "tasks.limits",
    ]);
    expect(problemsOf({ tasks: { limits: { defaultTtlMs: 2_000, maxTtlMs: 1_000 } } })).toEqual(["tasks.limits"]);
    for (const task of [
      { support: "optional", ttlMs: 86_400_001 },
      { support: "optional", pollIntervalMs: 1 },
      JSON.parse('"sometimes"'),
      JSON.parse('{"support":"optional","begins":"later"}'),
    ])
      expect(problemsOf({ tools: [taskTool("t", () => "", { task })] })).toEqual(['tools[0] "t"']);
  });
});

describe("a store that fails", () => {
  const failing = (fails: () => boolean): TaskStore => {
    const inner = createMemoryTaskStore();
    return {
      ...inner,
      async update(record, version) {
        if (fails()) throw new Error("the disk is gone");
        return inner.update(record, version);
      },
    };
  };

  it("when a task ends: the task failed, its result is lost and said to be", async () => {
    let once = true;
    const unexpected: unknown[] = [];
    const store = failing(() => {
      const fails = once;
      once = false;
      return fails;
    });
    const client = openTaskClient(
      taskServer({ tasks: { store, onUnexpectedError: (error) => void unexpected.push(error) } }),
    );
    const task = await client.until(await client.start("quick"), "failed");
    expect(task).toMatchObject({ error: { code: -32603, message: "what came of the task could not be stored" } });
    expect(unexpected).toEqual([new Error("the disk is gone")]);
  });

  it("for ever: who asks for the task is not told that it still works", async () => {
    const gate = createGate();
    let fails = false;
    const store = failing(() => fails);
    const tools = [taskTool("gated", () => gate.opened)];
    const client = openTaskClient(taskServer({ tools, tasks: { store, onUnexpectedError: () => undefined } }));
    const taskId = await client.start("gated");
    fails = true;
    gate.open("done");
    for (let tick = 0; tick < 5; tick += 1) await new Promise(setImmediate);
    expect(errorOf(await client.askModern("tasks/get", { taskId }, knowsTasks))).toMatchObject({ code: -32603 });
  });

  it("when a task begins: the call rejects, and its room is given back", async () => {
    const inner = createMemoryTaskStore();
    let fails = true;
    const store: TaskStore = {
      ...inner,
      async create(record) {
        if (fails) throw new Error("the disk is gone");
        await inner.create(record);
      },
    };
    const client = openTaskClient(taskServer({ tasks: { store, limits: { maxTasks: 1 } } }));
    for (let at = 0; at < 3; at += 1) await expect(client.call("quick")).rejects.toThrow("the disk is gone");
    fails = false;
    expect(await client.call("quick")).toMatchObject({ resultType: "task" });
  });

  it("at the start: calls reject, nothing runs, and the next one tries again", async () => {
    const inner = createMemoryTaskStore();
    let fails = true;
    const store: TaskStore = {
      ...inner,
      async *list() {
        if (fails) throw new Error("the disk is gone");
        yield* inner.list();
      },
    };
    const client = openTaskClient(taskServer({ tasks: { store } }));
    await expect(client.call("quick")).rejects.toThrow("the disk is gone");
    fails = false;
    expect(await client.call("quick")).toMatchObject({ resultType: "task" });
  });

  it("is full: the call is refused, and what makes room is always taken", async () => {
    const unexpected: unknown[] = [];
    const store = createMemoryTaskStore({ maxBytes: 1_024 });
    const tools = [taskTool("large", () => "x".repeat(900)), taskTool("quick", () => "done")];
    const onUnexpectedError = (error: unknown): void => void unexpected.push(error);
    const client = openTaskClient(taskServer({ tools, tasks: { store, onUnexpectedError } }));
    const task = await client.until(await client.start("large"), "failed");
    expect(task).toMatchObject({ error: { message: "what came of the task could not be stored" } });
    expect(unexpected).toMatchObject([{ code: "TASK_STORE_FULL" }]);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => client.askModern("tools/call", { name: "quick" }, knowsTasks)),
    );
    const refused = answers.filter((answer) => answer !== undefined && "error" in answer);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused)
      expect(errorOf(answer)).toMatchObject({ code: -32603, message: "there is no room for another task" });
  });
});
