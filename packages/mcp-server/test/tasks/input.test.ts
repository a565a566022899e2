import { describe, expect, it } from "vitest";
import { errorOf } from "../support/client.js";
import { form, knowsTasks, openTaskClient, taskServer, taskTool } from "../support/task-server.js";

const accept = (content: {
  [key: string]: string;
}): object & { action: string; content: { [key: string]: string } } => ({
  action: "accept",
  content,
});

describe("a task that needs input", () => {
  it("waits until all of it has come, piece by piece, shows what is outstanding, and never asks twice under one key", async () => {
    const client = openTaskClient(taskServer());
    const taskId = await client.start("asks");
    const first = await client.until(taskId, "input_required");
    expect(first).toMatchObject({
      inputRequests: { name: { method: "elicitation/create" }, place: { params: { message: "place?" } } },
    });
    const ack = await client.update(taskId, { place: accept({ place: "Turin" }), unknown: 3 });
    expect(Object.keys(ack).sort()).toEqual(["_meta", "resultType"]);
    expect(ack["resultType"]).toBe("complete");
    const half = await client.get(taskId);
    expect([half["status"], Object.keys(Object(half["inputRequests"]))]).toEqual(["input_required", ["name"]]);
    await client.update(taskId, { place: accept({ place: "again" }), name: accept({ name: "Ada" }) });
    const second = await client.until(taskId, "input_required");
    const [key] = Object.keys(Object(second["inputRequests"]));
    expect(key).toBe("name-2");
    await client.update(taskId, { name: accept({ name: "late" }) });
    expect(await client.get(taskId)).toEqual(second);
    await client.update(taskId, { "name-2": accept({ name: "Lovelace" }) });
    const done = await client.until(taskId, "completed");
    expect(done["result"]).toMatchObject({
      content: [{ text: '[{"name":"Ada"},{"place":"Turin"},{"name":"Lovelace"}]' }],
    });
    expect((await client.update(taskId, { name: accept({ name: "too late" }) }))["resultType"]).toBe("complete");
  });

  it.each([
    { name: "no object", answer: 3 },
    { name: "no action", answer: {} },
    { name: "content that the form refuses", answer: { action: "accept", content: { name: 3 } } },
  ])("refuses an answer with $name, and then takes none of the others", async ({ answer }) => {
    const client = openTaskClient(taskServer());
    const taskId = await client.start("asks");
    const before = await client.until(taskId, "input_required");
    const inputResponses = { place: accept({ place: "Turin" }), name: answer };
    expect(errorOf(await client.askModern("tasks/update", { taskId, inputResponses }, knowsTasks)).code).toBe(-32602);
    expect(await client.get(taskId)).toEqual(before);
  });

  it("refuses answers that are no object, and a taskId that is no string", async () => {
    const client = openTaskClient(taskServer());
    const taskId = await client.start("asks");
    for (const params of [
      { taskId },
      { taskId, inputResponses: 3 },
      { taskId, inputResponses: [] },
      { taskId: 3, inputResponses: {} },
    ]) {
      expect(errorOf(await client.askModern("tasks/update", params, knowsTasks)).code).toBe(-32602);
    }
  });

  it("may ask in parallel, and ends with -32021 when the client cannot be asked", async () => {
    const tool = taskTool("both", async ({ requestInput }) => {
      const [one, two] = await Promise.all([
        requestInput({ a: form("x") }),
        requestInput({ a: form("y") }),
        requestInput({}),
      ]);
      return JSON.stringify([one["a"]?.["content"], two["a"]?.["content"]]);
    });
    const client = openTaskClient(taskServer({ tools: [tool] }));
    const taskId = await client.start("both");
    await client.until(taskId, "input_required");
    expect(Object.keys(Object((await client.get(taskId))["inputRequests"]))).toEqual(["a", "a-2"]);
    await client.update(taskId, { "a-2": accept({ y: "2" }), a: accept({ x: "1" }) });
    expect((await client.until(taskId, "completed"))["result"]).toMatchObject({
      content: [{ text: '[{"x":"1"},{"y":"2"}]' }],
    });
    const { extensions } = knowsTasks;
    const mute = await client.askModern("tools/call", { name: "both" }, { extensions });
    const failed = await client.until(String(Object(mute && "result" in mute ? mute.result : {}).taskId), "failed");
    expect(failed).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } },
    });
  });

  it("may ask only so often", async () => {
    const tool = taskTool("nags", async ({ requestInput }) => {
      for (;;) await requestInput({ again: form("name") });
    });
    const client = openTaskClient(taskServer({ tools: [tool], tasks: { limits: { maxQuestions: 2 } } }));
    const taskId = await client.start("nags");
    for (const key of ["again", "again-2"]) {
      await client.until(taskId, "input_required");
      await client.update(taskId, { [key]: accept({ name: "stop" }) });
    }
    expect(await client.until(taskId, "failed")).toMatchObject({ error: { code: -32603, data: { limit: 2 } } });
  });

  it("stops waiting when it is cancelled", async () => {
    const reasons: unknown[] = [];
    const tool = taskTool("asks", async ({ requestInput }) => {
      await requestInput({ name: form("name") }).catch((error) => void reasons.push(error.message));
      return "went on";
    });
    const client = openTaskClient(taskServer({ tools: [tool] }));
    const taskId = await client.start("asks");
    await client.until(taskId, "input_required");
    await client.cancel(taskId);
    const task = await client.get(taskId);
    expect(task).toMatchObject({ status: "cancelled" });
    expect(task).not.toHaveProperty("inputRequests");
    await new Promise(setImmediate);
    expect(reasons).toEqual(["cancelled by the client"]);
    expect(await client.get(taskId)).toEqual(task);
  });
});
