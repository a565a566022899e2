import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  createMcpServer,
  type McpServer,
  type PipelineRequest,
  pipelineTool,
  RegistrationError,
} from "../../src/index.js";
import { errorOf, openClient, resultOf } from "../support/client.js";
import { openTaskClient } from "../support/task-server.js";

class PolicyError extends Error {}
const inputSchema = { type: "object", properties: { argv: { type: "array" } }, additionalProperties: false } as const;

function serve(
  execute: (request: PipelineRequest<string>) => JsonObject | Promise<JsonObject>,
  more: Partial<Parameters<typeof pipelineTool<string>>[0]> = {},
): McpServer<string> {
  const tool = pipelineTool<string>({
    name: "run",
    description: "Runs",
    inputSchema,
    permission: "run",
    isSafeError: (error) => error instanceof PolicyError,
    ...more,
    executor: { execute },
  });
  return createMcpServer({
    identity: { name: "pipelines", version: "1.0.0" },
    authorize: ({ principal }) => principal === "ada",
    tools: [tool],
  });
}

const call = (server: McpServer<string>, given: JsonObject = {}, principal = "ada") =>
  openClient(server, principal).askModern("tools/call", { name: "run", arguments: given });

describe("a pipeline as a tool", () => {
  it("gets who asks, the arguments, the call's id and a signal, and answers with its result", async () => {
    const seen: PipelineRequest<string>[] = [];
    const server = serve((request) => {
      seen.push(request);
      return { exitCode: 0 };
    });
    const result = resultOf(await call(server, { argv: ["a"] }));
    expect(result).toMatchObject({ structuredContent: { exitCode: 0 }, content: [{ text: '{"exitCode":0}' }] });
    expect(seen).toEqual([
      { pipeline: "run", identity: "ada", payload: { argv: ["a"] }, requestId: 1, signal: expect.any(AbortSignal) },
    ]);
    expect(Object.isFrozen(seen[0]?.payload)).toBe(true);
  });

  it("is not begun for whom it is forbidden, nor with arguments that its schema refuses", async () => {
    let runs = 0;
    const server = serve(() => ({ runs: ++runs }));
    expect(errorOf(await call(server, {}, "eve"))).toMatchObject({ code: -32602, message: "Unknown tool: run" });
    expect(resultOf(await call(server, { argv: "rm", policy: "none" }))).toMatchObject({ isError: true });
    expect(runs).toBe(0);
  });

  it("shows errors that are said to be safe as tool errors, and lets all others out, also the same ones when none is said to be", async () => {
    const refuses = (): never => {
      throw new PolicyError("no such profile");
    };
    expect(resultOf(await call(serve(refuses)))).toMatchObject({
      isError: true,
      content: [{ text: "no such profile" }],
    });
    await expect(call(serve(refuses, { isSafeError: undefined }))).rejects.toThrow(PolicyError);
    const breaks = new AggregateError([new Error("primary"), new Error("cleanup")]);
    await expect(call(serve(() => Promise.reject(breaks)))).rejects.toBe(breaks);
  });

  it("hears of the cancellation, and what it throws then is no tool error, however safe", async () => {
    const reasons: unknown[] = [];
    const server = serve(
      ({ signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason.message);
            reject(new PolicyError("stopped"));
          }),
        ),
    );
    const client = openClient(server);
    const answer = client.askModern("tools/call", { name: "run" });
    await new Promise(setImmediate);
    await client.notify("notifications/cancelled", { requestId: 1, reason: "enough" });
    expect(await answer).toBeUndefined();
    expect(reasons).toEqual(["cancelled: enough"]);
  });

  it.each([[undefined], [null], ["text"], [[1]]])("is at fault when it returns %j", async (returned) => {
    await expect(call(serve(() => JSON.parse(JSON.stringify({ returned })).returned))).rejects.toMatchObject({
      name: "ResultError",
    });
  });

  it("keeps the executor's error when isSafeError throws", async () => {
    const failing = serve(() => Promise.reject(new PolicyError("no such profile")), {
      isSafeError: () => {
        throw new TypeError("no code");
      },
    });
    await expect(call(failing)).rejects.toThrow(PolicyError);
  });

  const whole = { name: "run", description: "Runs", inputSchema, permission: "run", executor: { execute: () => ({}) } };
  it.each([
    ["no executor", { executor: undefined }, "executor is missing; it has to be an executor (with execute)"],
    [
      "a function as executor",
      { executor: () => ({}) },
      "executor is a function; it has to be an executor (with execute)",
    ],
    ["an executor that was not awaited", { executor: Promise.resolve() }, "executor is a promise: await it"],
    [
      "a misspelled option",
      { isSafeEror: () => true },
      'there is no option "isSafeEror" (did you mean "isSafeError"?)',
    ],
    ["a misspelled option of tools", { outputShema: {} }, '(did you mean "outputSchema"?)'],
    ["a handler", { handler: () => "" }, 'there is no option "handler"'],
    ["isSafeError as a value", { isSafeError: true }, "isSafeError is true; it has to be a function"],
  ])("is refused at the start with %s", (_, wrong, tells) => {
    const make = (): unknown => Reflect.apply(pipelineTool, undefined, [{ ...whole, ...wrong }]);
    expect(make).toThrow(RegistrationError);
    expect(make).toThrow(`pipelineTool "run": ${tells.startsWith("(") ? "there is no option" : tells}`);
    expect(make).toThrow(tells);
  });

  it("can have an output schema, another name, a schema of a library, and run as a task", async () => {
    const schema = z.object({ n: z.string().transform(Number) });
    const tool = pipelineTool<string, typeof schema>({
      name: "double",
      pipeline: "arithmetic",
      description: "Doubles",
      inputSchema: schema,
      outputSchema: { type: "object", required: ["n"] },
      permission: "run",
      task: "required",
      executor: { execute: ({ payload, pipeline }) => ({ n: payload.n * 2, pipeline }) },
    });
    const server = createMcpServer({
      identity: { name: "pipelines", version: "1.0.0" },
      authorize: () => true,
      tools: [tool],
    });
    const client = openTaskClient(server);
    const { taskId } = await client.call("double", { arguments: { n: "21" } });
    const done = await client.until(String(taskId), "completed");
    expect(done["result"]).toMatchObject({ structuredContent: { n: 42, pipeline: "arithmetic" } });
  });
});
