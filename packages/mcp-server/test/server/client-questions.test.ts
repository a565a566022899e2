import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { createFakeScheduler } from "../../../jsonrpc-framing/test/fake-scheduler.js";
import {
  createMcpServer,
  type InputRequest,
  type McpServer,
  type McpServerOptions,
  RpcError,
  type ToolDefinition,
} from "../../src/index.js";
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
    const client = asking({ a: question, b: question }, { scheduler, limits: { maxClientRequests: 3 } });
    await client.initialize("2025-11-25", { elicitation: {} });
    const first = client.ask("tools/call", { name: "asks" });
    await new Promise(setImmediate);
    const error = errorOf(await client.ask("tools/call", { name: "asks" }));
    expect(error).toMatchObject({ code: -32603, data: { limit: 3 } });
    expect(methodsOf(client.sent)).toEqual(["elicitation/create", "elicitation/create"]); // of the first: the second took no place
    expect(client.connection.waitingForClient).toBe(2);
    await client.connection.close();
    await first;
  });

  it("of a call of which one is refused are cancelled before the call is answered, and their places are free", async () => {
    const scheduler = createFakeScheduler();
    const client = asking({ a: question, b: question, c: question }, { scheduler });
    await client.initialize("2025-11-25", { elicitation: {} });
    const answer = client.ask("tools/call", { name: "asks" });
    await new Promise(setImmediate);
    await client.reply({ jsonrpc: "2.0", id: Number(client.sent[1]?.["id"]), error: { code: -1, message: "no" } });
    expect(errorOf(await answer)).toMatchObject({ code: -32603, data: { code: -1 } });
    expect(client.sent.slice(3)).toMatchObject([
      { method: "notifications/cancelled", params: { requestId: client.sent[0]?.["id"] } },
      { method: "notifications/cancelled", params: { requestId: client.sent[2]?.["id"] } },
    ]);
    expect(client.connection.waitingForClient).toBe(0);
    await client.connection.close();
  });

  it.each(["returns", "throws"])("that are open when the handler %s without them are cancelled", async (end) => {
    const scheduler = createFakeScheduler();
    let later: Promise<unknown> | undefined;
    const tool: ToolDefinition<string> = {
      name: "leaves",
      description: "Does not wait for its answers",
      inputSchema: { type: "object" },
      permission: "use",
      async handler({ requestInput }) {
        void requestInput({ a: question });
        await new Promise(setImmediate);
        later = new Promise(setImmediate).then(() => requestInput({ b: question }));
        later.catch(() => undefined);
        if (end === "throws") throw new RpcError(-5, "enough");
        return "done";
      },
    };
    const client = asking({}, { scheduler, tools: [tool] });
    await client.initialize("2025-11-25", { elicitation: {} });
    const answer = await client.ask("tools/call", { name: "leaves" });
    expect(answer).toMatchObject(end === "throws" ? { error: { code: -5 } } : { result: {} });
    expect(methodsOf(client.sent)).toEqual(["elicitation/create", "notifications/cancelled"]);
    await expect(later).rejects.toThrow("the call has ended");
    expect(client.sent.length).toBe(2); // what is asked after the end is not sent
    expect(client.connection.waitingForClient).toBe(0);
    await client.connection.close();
  });

  it.each([
    { roots: [{ name: "no address" }] },
    { roots: [{ uri: 3 }] },
    { roots: ["file:///x"] },
    { roots: [null] },
    { roots: {} },
    {},
  ])("for roots are refused when answered with %j", async (result) => {
    const client = asking({ a: { method: "roots/list" } });
    await client.initialize("2025-11-25", { roots: {} });
    const answer = client.ask("tools/call", { name: "asks" });
    await new Promise(setImmediate);
    await client.reply({ jsonrpc: "2.0", id: Number(client.sent[0]?.["id"]), result });
    expect(errorOf(await answer).code).toBe(-32602);
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
