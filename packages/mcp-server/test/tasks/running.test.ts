import { describe, expect, it } from "vitest";
import { errorOf } from "../support/client.js";
import { createGate, knowsTasks, openTaskClient, taskServer, taskTool } from "../support/task-server.js";

const text = "x".repeat(1_500);
const anything = { type: "object" } as const;

describe("what the handlers of tasks hold of their calls", () => {
  it("is bounded in all, and counts until the handler has ended, also when the task was cancelled before", async () => {
    const gate = createGate();
    const held = taskTool(
      "held",
      async () => {
        await gate.opened;
        return "done";
      },
      { inputSchema: anything },
    );
    const server = taskServer({ tools: [held], tasks: { limits: { maxRunningBytes: 2_048 } } });
    const client = openTaskClient(server);
    const call = { name: "held", arguments: { text } };
    const start = () => client.askModern("tools/call", call, knowsTasks);
    const first = await start();
    expect(first).toMatchObject({ result: { resultType: "task" } });
    const taskId = first !== undefined && "result" in first ? first.result["taskId"] : undefined;
    for (const isCancelled of [false, true]) {
      if (isCancelled) await client.askModern("tasks/cancel", { taskId: taskId ?? null }, knowsTasks);
      expect(errorOf(await start())).toMatchObject({ code: -32603, data: { limit: 2_048 } });
    }
    gate.open("");
    await new Promise(setImmediate);
    expect(await start()).toMatchObject({ result: { resultType: "task" } });
    await server.close();
  });
});
