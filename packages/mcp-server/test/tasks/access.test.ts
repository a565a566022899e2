import { describe, expect, it } from "vitest";
import { errorOf } from "../support/client.js";
import {
  createGate,
  form,
  knowsTasks,
  openTaskClient,
  taskServer,
  taskTool,
  taskTools,
} from "../support/task-server.js";

const methods = ["tasks/get", "tasks/update", "tasks/cancel"] as const;

describe("tasks of others", () => {
  it("answer exactly as tasks that do not exist, whatever is asked of them, and are not touched by it", async () => {
    const server = taskServer();
    const [ada, eve] = [openTaskClient(server, "ada"), openTaskClient(server, "eve")];
    const taskId = await ada.start("waits");
    for (const method of methods) {
      const answers = await Promise.all(
        [taskId, "absent", "", "x".repeat(100_000), "__proto__"].map(async (id) => {
          const answer = await eve.askModern(method, { taskId: id, inputResponses: {} }, knowsTasks);
          return errorOf(answer);
        }),
      );
      for (const error of answers) expect(error).toEqual({ code: -32602, message: "Unknown task" });
    }
    expect(await ada.get(taskId)).toMatchObject({ status: "working" });
    await ada.cancel(taskId);
  });

  it("are not listened to: the acknowledgement names only one's own, and nothing of another is told", async () => {
    const server = taskServer();
    const [ada, eve] = [openTaskClient(server, "ada"), openTaskClient(server, "eve")];
    const [hers, mine] = [await ada.start("waits"), await eve.start("waits")];
    await eve.listen(hers, mine, "absent");
    await ada.cancel(hers);
    await new Promise(setImmediate);
    expect(eve.sent[0]?.["params"]).toMatchObject({ notifications: { taskIds: [mine] } });
    expect(JSON.stringify(eve.sent)).not.toContain(hers);
    await eve.cancel(mine);
  });

  it("are told apart by principalId when principals are no strings", async () => {
    const server = taskServer({ principalId: (principal) => principal.toLowerCase() });
    const [ada, other] = [openTaskClient(server, "Ada"), openTaskClient(server, "ADA")];
    const taskId = await ada.start("quick");
    expect(await other.until(taskId, "completed")).toMatchObject({ taskId });
  });
});

describe("a permission that was taken back", () => {
  it("hides the task: what one may no longer call has no result for one either", async () => {
    let allows = true;
    const client = openTaskClient(taskServer({ authorize: () => allows }));
    const taskId = await client.start("quick");
    await client.until(taskId, "completed");
    allows = false;
    for (const method of methods) {
      expect(errorOf(await client.askModern(method, { taskId, inputResponses: {} }, knowsTasks))).toEqual({
        code: -32602,
        message: "Unknown task",
      });
    }
    allows = true;
    expect(await client.get(taskId)).toMatchObject({ status: "completed" });
  });
});

describe("a permission that was taken back while one listens", () => {
  it("leaves the listener without the result; given back, it hears the next change", async () => {
    let allows = true;
    const [first, second] = [createGate(), createGate()];
    const tools = [
      taskTool("result", () => first.opened),
      taskTool("tells", async ({ progress }) => {
        progress(1, 2, "half of the secret");
        return second.opened;
      }),
    ];
    const client = openTaskClient(taskServer({ tools, authorize: () => allows }));
    const [result, tells] = [await client.start("result"), await client.start("tells")];
    await client.listen(result, tells);
    client.sent.splice(0);
    allows = false;
    first.open("gold");
    await new Promise(setImmediate);
    expect(client.sent).toEqual([]);
    allows = true;
    second.open("silver");
    await client.until(tells, "completed");
    expect(JSON.stringify(client.sent)).toContain("silver");
    expect(JSON.stringify(client.sent)).not.toContain("gold");
  });

  it("is asked in turn, however long the authorizer thinks: each change is told once, in order", async () => {
    const waits: (() => void)[] = [];
    let thinks = false;
    const authorize = (): boolean | Promise<boolean> =>
      thinks ? new Promise((resolve) => waits.push(() => resolve(true))) : true;
    const gate = createGate();
    const tools = [
      taskTool("steps", async ({ progress, requestInput }) => {
        await gate.opened;
        for (const step of [1, 2, 3]) {
          progress(step);
          await new Promise(setImmediate);
        }
        await requestInput({ name: form("name") });
        return "done";
      }),
    ];
    const server = taskServer({ tools, authorize });
    const client = openTaskClient(server);
    const taskId = await client.start("steps");
    await client.listen(taskId);
    client.sent.splice(0);
    thinks = true;
    gate.open("");
    for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
    expect([client.sent.length, waits.length]).toEqual([0, 1]);
    const closing = server.close();
    for (let turns = 0; turns < 10; turns += 1) {
      waits.shift()?.();
      await new Promise(setImmediate);
    }
    await closing;
    const told = client.sent
      .filter(({ method }) => method === "notifications/tasks")
      .map(({ params }) => Object(params));
    // Of messages that came while the authorizer thought only the newest is left.
    expect(told.map(({ status, statusMessage }) => [status, statusMessage])).toEqual([
      ["working", "1"],
      ["working", "3"],
      ["input_required", "3"],
      ["failed", "The server was closed"],
    ]);
  });
});

describe("ids of tasks", () => {
  it("are random: 1,000 have nothing in common", async () => {
    const server = taskServer({ tools: taskTools, tasks: { limits: { maxTasksPerPrincipal: 1_000 } } });
    const client = openTaskClient(server);
    const ids = await Promise.all(Array.from({ length: 1_000 }, () => client.start("quick")));
    expect(new Set(ids).size).toBe(1_000);
    for (let at = 0; at < 32; at += 1) expect(new Set(ids.map((id) => id[at])).size).toBeGreaterThan(40);
  });
});
