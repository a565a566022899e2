import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import type { Instrumentation, RequestEvent, RequestStart } from "../../src/index.js";
import { openClient, resultOf } from "../support/client.js";
import { sampleServer, sampleTools } from "../support/sample.js";

const call = { name: "echo", arguments: { text: "x" } };
const echoed = { content: [{ type: "text", text: "x" }] };

describe("an instrumentation", () => {
  it("runs around each request: its storage is what the handler finds, and it is told of the end before the caller is", async () => {
    const storage = new AsyncLocalStorage<string>();
    const starts: RequestStart<string>[] = [];
    const ends: RequestEvent<string>[] = [];
    const [echo] = sampleTools;
    const server = sampleServer({
      tools: echo === undefined ? [] : [{ ...echo, handler: async () => (await null) ?? String(storage.getStore()) }],
      instrumentation: {
        begin(start) {
          starts.push(start);
          return {
            within: (work) => storage.run(`request ${start.requestId}`, work),
            end: (event) => void ends.push(event),
          };
        },
      },
    });
    const client = openClient(server);
    const answers = await Promise.all([client.askModern("tools/call", call), client.askModern("tools/call", call)]);
    expect(answers.map(resultOf)).toMatchObject([
      { content: [{ text: "request 1" }] },
      { content: [{ text: "request 2" }] },
    ]);
    expect(starts).toMatchObject([
      { method: "tools/call", requestId: 1, principal: "ada", overHttp: false },
      { requestId: 2 },
    ]);
    expect(ends.map(({ requestId, name, outcome }) => [requestId, name, outcome])).toEqual([
      [1, "echo", "success"],
      [2, "echo", "success"],
    ]);
  });

  const broken = new Error("broken");
  const fail = (): never => {
    throw broken;
  };
  const failures: readonly { name: string; instrumentation: Instrumentation<string>; failures: number }[] = [
    { name: "begin throws", instrumentation: { begin: fail }, failures: 1 },
    { name: "begin does not want it", instrumentation: { begin: () => undefined }, failures: 0 },
    { name: "within throws before it", instrumentation: { begin: () => ({ within: fail, end: fail }) }, failures: 2 },
    {
      name: "within throws after it",
      instrumentation: {
        begin: () => ({
          within(work) {
            work();
            return fail();
          },
          end: () => undefined,
        }),
      },
      failures: 1,
    },
    {
      name: "within calls twice",
      instrumentation: {
        begin: () => ({
          within(work) {
            work();
            return work();
          },
          end: () => undefined,
        }),
      },
      failures: 0,
    },
  ];
  it.each(failures)(
    "changes no answer, and each request is worked on once: $name",
    async ({ instrumentation, failures }) => {
      let calls = 0;
      const [echo] = sampleTools;
      const handler = (): string => {
        calls += 1;
        return "x";
      };
      const tools = echo === undefined ? [] : [{ ...echo, handler }];
      const server = sampleServer({ tools, instrumentation });
      expect(resultOf(await openClient(server).askModern("tools/call", call))).toMatchObject(echoed);
      expect([calls, server.observerFailures]).toEqual([1, failures]);
    },
  );

  it("does not hide what a handler threw", async () => {
    const ends: string[] = [];
    const server = sampleServer({
      instrumentation: { begin: () => ({ within: (work) => work(), end: ({ outcome }) => void ends.push(outcome) }) },
    });
    await expect(openClient(server).askModern("tools/call", { name: "breaks" })).rejects.toThrow("hunter2");
    expect(ends).toEqual(["failure"]);
  });
});
