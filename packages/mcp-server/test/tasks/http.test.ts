import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { codeOf, type FrontEnd, frontEnds, modern } from "../support/http.js";
import { knowsTasks as capabilities, createGate, form, taskServer, taskTool } from "../support/task-server.js";

/** Asks about a task, with the header that proxies find its server by. */
const about = (method: string, taskId: string, more: JsonObject = {}, id: string | number = 1) =>
  modern(method, { taskId, ...more }, { capabilities, id, headers: { "mcp-name": taskId } });

async function start(front: FrontEnd, name: string): Promise<string> {
  const { json } = await front.send(modern("tools/call", { name, arguments: {} }, { capabilities }));
  return String(Object(json?.["result"]).taskId);
}

async function until(front: FrontEnd, taskId: string, status: string): Promise<JsonObject> {
  for (const signal = AbortSignal.timeout(10_000); ; signal.throwIfAborted()) {
    const { json } = await front.send(about("tasks/get", taskId));
    if (Object(json?.["result"]).status === status) return Object(json?.["result"]);
  }
}

describe.each(frontEnds)("tasks over $name", ({ start: serve }) => {
  it("outlive the request that made them, and tell a stream that listens of each change", async () => {
    const gate = createGate();
    const tool = taskTool("job", async ({ requestInput, progress }) => {
      progress(1, 2, "asking");
      const { name } = await requestInput({ name: form("name") });
      return `${await gate.opened} ${name?.["action"]}`;
    });
    await using front = await serve({ server: taskServer({ tools: [tool] }), principal: "ada" });
    const taskId = await start(front, "job");
    await until(front, taskId, "input_required");
    const listen = modern(
      "subscriptions/listen",
      { notifications: { taskIds: [taskId, "absent"] } },
      { capabilities, id: "l" },
    );
    const stream = await front.open(listen);
    const key = "io.modelcontextprotocol/subscriptionId";
    expect(await stream.next()).toMatchObject({
      params: { notifications: { taskIds: [taskId] }, _meta: { [key]: "l" } },
    });
    expect(await stream.next()).toMatchObject({
      method: "notifications/tasks",
      params: { taskId, status: "input_required", statusMessage: "asking", _meta: { [key]: "l" } },
    });
    await front.send(about("tasks/update", taskId, { inputResponses: { name: { action: "decline" } } }));
    expect(await stream.next()).toMatchObject({ params: { status: "working" } });
    gate.open("done:");
    const end = await stream.next();
    expect(end).toMatchObject({ params: { status: "completed", result: { content: [{ text: "done: decline" }] } } });
    stream.leave();
    const { resultType, _meta, ...task } = await until(front, taskId, "completed");
    expect(end?.["params"]).toMatchObject(task);
  });

  it("are cancelled by tasks/cancel only, and refused with the status that the error says", async () => {
    await using front = await serve({ server: taskServer(), principal: "ada" });
    const taskId = await start(front, "waits");
    expect((await until(front, taskId, "working"))["taskId"]).toBe(taskId);
    expect((await front.send(about("tasks/cancel", taskId))).json).toMatchObject({
      result: { resultType: "complete" },
    });
    await until(front, taskId, "cancelled");
    const unaware = await front.send(modern("tools/call", { name: "must", arguments: {} }));
    expect([unaware.status, codeOf(unaware)]).toEqual([400, -32021]);
    const other = await front.send(modern("tasks/get", { taskId }, { capabilities, headers: { "mcp-name": "other" } }));
    expect([other.status, codeOf(other)]).toEqual([400, -32020]);
    const unknown = await front.send(about("tasks/get", "absent"));
    expect([unknown.status, codeOf(unknown)]).toEqual([200, -32602]);
  });
});
