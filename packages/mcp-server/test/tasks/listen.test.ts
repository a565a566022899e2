import { describe, expect, it } from "vitest";
import { errorOf, resultOf } from "../support/client.js";
import { createGate, form, knowsTasks, openTaskClient, taskServer, taskTool } from "../support/task-server.js";

const key = "io.modelcontextprotocol/subscriptionId";

describe("listening to tasks", () => {
  it("tells the state at once and then each change, each as tasks/get would, under the subscription's id", async () => {
    const gate = createGate();
    const tool = taskTool("job", async ({ progress, requestInput }) => {
      await gate.opened;
      progress(1, 2, "half");
      const { name } = await requestInput({ name: form("name") });
      return String(name?.["action"]);
    });
    const client = openTaskClient(taskServer({ tools: [tool] }));
    const taskId = await client.start("job");
    await client.listen(taskId);
    gate.open("");
    await client.until(taskId, "input_required");
    await client.update(taskId, { name: { action: "decline" } });
    const { resultType, _meta, ...done } = await client.until(taskId, "completed");
    const [acknowledged, ...told] = client.sent.splice(0);
    expect(acknowledged).toMatchObject({ params: { notifications: { taskIds: [taskId] }, _meta: { [key]: 2 } } });
    expect(told.map(({ method }) => method)).toEqual(told.map(() => "notifications/tasks"));
    const params = told.map((message) => Object(message["params"]));
    expect(params.map(({ status, statusMessage }) => [status, statusMessage])).toEqual([
      ["working", undefined],
      ["working", "half"],
      ["input_required", "half"],
      ["working", "half"],
      ["completed", undefined],
    ]);
    expect(params[2]).toMatchObject({ taskId, inputRequests: { name: { method: "elicitation/create" } } });
    expect(params.at(-1)).toEqual({ ...done, _meta: { [key]: 2 } });
  });

  it("tells of a task that had ended before", async () => {
    const client = openTaskClient(taskServer());
    const taskId = await client.start("quick");
    await client.until(taskId, "completed");
    await client.listen(taskId);
    await new Promise(setImmediate);
    expect(client.sent.at(-1)).toMatchObject({ method: "notifications/tasks", params: { status: "completed" } });
  });

  it("needs the extension, is bounded, and ends with its subscription", async () => {
    const server = taskServer({ limits: { maxSubscriptions: 2 } });
    const client = openTaskClient(server);
    const notifications = (taskIds: readonly string[]) => ({ notifications: { taskIds } });
    expect(errorOf(await client.askModern("subscriptions/listen", notifications(["x"]), {}))).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
    });
    const tooMany = await client.askModern("subscriptions/listen", notifications(["a", "b", "c"]), knowsTasks);
    expect(errorOf(tooMany).code).toBe(-32602);
    const taskId = await client.start("waits");
    const answer = client.askModern("subscriptions/listen", notifications([taskId, taskId]), knowsTasks);
    await new Promise(setImmediate);
    await client.notify("notifications/cancelled", { requestId: 4 });
    expect(await answer).toBeUndefined();
    const before = client.sent.length;
    await client.cancel(taskId);
    await new Promise(setImmediate);
    expect(client.sent.length).toBe(before);
  });

  it("of a server without tasks honours none", async () => {
    const server = taskServer({ tools: [taskTool("plain", () => "", { task: undefined })] });
    const client = openTaskClient(server);
    await client.listen("x");
    expect(client.sent[0]?.["params"]).toMatchObject({ notifications: {} });
    await client.connection.close();
  });
});

describe("close() of a server", () => {
  it("aborts what runs and stores it as failed, tells it to listeners, says farewell, and takes no more", async () => {
    const reasons: unknown[] = [];
    const tool = taskTool(
      "waits",
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason.message);
            reject(signal.reason);
          });
        }),
    );
    await using server = taskServer({ tools: [tool] });
    const client = openTaskClient(server);
    const taskId = await client.start("waits");
    const listening = client.askModern("subscriptions/listen", { notifications: { taskIds: [taskId] } }, knowsTasks);
    await new Promise(setImmediate);
    const late = openTaskClient(server);
    await Promise.all([server.close(), server.close()]);
    expect(reasons).toEqual(["the server is closing"]);
    expect(resultOf(await listening)).toMatchObject({ resultType: "complete" });
    expect(client.sent.slice(-2)).toMatchObject([
      {
        method: "notifications/tasks",
        params: { status: "failed", error: { code: -32603 }, statusMessage: "The server was closed" },
      },
      { method: "notifications/cancelled" },
    ]);
    await expect(late.call("waits")).rejects.toThrow("closed");
    const again = openTaskClient(server);
    expect(errorOf(await again.askModern("tools/call", { name: "waits" }, knowsTasks)).message).toBe(
      "the server is closing",
    );
    expect(await again.get(taskId)).toMatchObject({ status: "failed" });
  });
});
