import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { createFakeScheduler } from "../../../jsonrpc-framing/test/fake-scheduler.js";
import { createMcpServer, type InputRequest, type McpServer, type McpServerOptions } from "../../src/index.js";
import { errorOf, openClient } from "../support/client.js";
import { emptyForm } from "../support/form.js";

const question: InputRequest = { method: "elicitation/create", params: emptyForm("?") };

/** A server whose tool asks these questions in one round. */
function asking(questions: Readonly<Record<string, InputRequest>>, more: Partial<McpServerOptions<string>> = {}) {
  const server: McpServer<string> = createMcpServer<string>({
    identity: { name: "asking", version: "1" },
    authorize: () => true,
    tools: [
      {
        name: "asks",
        description: "Asks",
        inputSchema: { type: "object" },
        permission: "use",
        handler: async ({ requestInput }) => JSON.stringify(await requestInput(questions)),
      },
    ],
    ...more,
  });
  return openClient(server);
}
const methodsOf = (sent: readonly JsonObject[]): unknown[] => sent.map(({ method }) => method);

describe("questions to a client", () => {
  it("over maxClientRequests are not asked, nor cancelled: the call that needed one more gets -32603 with the limit", async () => {
    const scheduler = createFakeScheduler();
    const client = asking({ a: question, b: question }, { scheduler, limits: { maxClientRequests: 1 } });
    await client.initialize("2025-11-25", { elicitation: {} });
    const error = errorOf(await client.ask("tools/call", { name: "asks" }));
    expect(error).toMatchObject({ code: -32603, data: { limit: 1 } });
    expect(methodsOf(client.sent)).toEqual(["elicitation/create"]);
    await client.connection.close();
  });

  it("that are not answered in time are cancelled", async () => {
    const scheduler = createFakeScheduler();
    const client = asking({ a: question }, { scheduler, limits: { clientAnswerMs: 1_000 } });
    await client.initialize("2025-11-25", { elicitation: {} });
    const answer = client.ask("tools/call", { name: "asks" });
    await new Promise(setImmediate);
    scheduler.advance(1_000);
    expect(errorOf(await answer).code).toBe(-32603);
    expect(methodsOf(client.sent)).toEqual(["elicitation/create", "notifications/cancelled"]);
    expect(client.sent[1]?.["params"]).toMatchObject({ requestId: client.sent[0]?.["id"] });
  });

  it("are not sent when the connection is closed, and nothing waits for them", async () => {
    const scheduler = createFakeScheduler();
    const client = asking({ a: question }, { scheduler });
    await client.initialize();
    await client.connection.close();
    await expect(client.connection.ping()).rejects.toMatchObject({ code: -32603 });
    expect([client.sent, scheduler.timers.set]).toEqual([[], 0]);
  });
});

it("a requestState over maxRequestStateBytes is -32603", async () => {
  const limits = { maxRequestStateBytes: 1_024 };
  const call = (key: string) =>
    asking({ [key]: question }, { limits }).askModern("tools/call", { name: "asks" }, { elicitation: {} });
  expect(await call("k".repeat(500))).toMatchObject({ result: { resultType: "input_required" } });
  expect(errorOf(await call("k".repeat(1_024)))).toMatchObject({
    code: -32603,
    message: expect.stringContaining("the limit of 1024 bytes"),
  });
});
