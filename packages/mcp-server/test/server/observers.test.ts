import { describe, expect, it } from "vitest";
import { createMcpServer, type RequestEvent } from "../../src/index.js";
import { openClient } from "../support/client.js";
import { pipe, toolCall } from "../support/piped.js";
import { sampleServer } from "../support/sample.js";

describe("observers", () => {
  it("are told of each request once, however it ended", async () => {
    const events: RequestEvent<string>[] = [];
    let clock = 1_000;
    const now = (): number => {
      clock += 5;
      return clock;
    };
    const client = openClient(sampleServer({ observers: [(event) => void events.push(event)], now }));
    await client.askModern("tools/call", { name: "echo", arguments: { text: "x" } });
    await client.askModern("tools/call", { name: "fails" });
    await client.askModern("tools/call", { name: "echo", arguments: { text: 3 } });
    await client.askModern("tools/call", { name: "secret" });
    await client.askModern("no/such");
    await client.ask("tools/list");
    await client.askModern("tools/call", { name: "breaks" }).catch(() => undefined);
    await client.askModern("tools/call", { name: "wrong" }).catch(() => undefined);
    const waiting = client.askModern("tools/call", { name: "waits" });
    await client.notify("notifications/cancelled", { requestId: 9 });
    await waiting;
    await client.notify("notifications/initialized");
    expect(events.map(({ outcome, errorCode, name }) => [outcome, errorCode, name])).toEqual([
      ["success", undefined, "echo"],
      ["tool-error", undefined, "fails"],
      ["tool-error", undefined, "echo"],
      ["denied", -32602, "secret"],
      ["protocol-error", -32601, undefined],
      ["protocol-error", -32602, undefined],
      ["failure", -32603, "breaks"],
      ["failure", -32603, "wrong"],
      ["cancelled", undefined, "waits"],
    ]);
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(events[0]).toMatchObject({
      principal: "ada",
      requestId: 1,
      revision: "2026-07-28",
      startedAt: 1_005,
      durationMs: 5,
    });
  });

  it("get frozen parameters", async () => {
    const events: RequestEvent<string>[] = [];
    const client = openClient(sampleServer({ observers: [(event) => void events.push(event)] }));
    await client.askModern("tools/call", { name: "echo", arguments: { text: "x" } });
    const params = events[0]?.params;
    expect(params).toMatchObject({ name: "echo", arguments: { text: "x" } });
    expect([
      Object.isFrozen(params),
      Object.isFrozen(params?.["arguments"]),
      Object.isFrozen(params?.["_meta"]),
    ]).toEqual([true, true, true]);
  });

  it("cannot change an answer by failing; that is counted, and told to the fallback", async () => {
    const told: unknown[] = [];
    const server = sampleServer({
      observers: [
        () => {
          throw new Error("first");
        },
        () => Promise.reject(new Error("second")),
      ],
      onObserverError: (error) => {
        told.push(error);
        throw new Error("the fallback fails too");
      },
    });
    const answer = await openClient(server).askModern("tools/call", { name: "echo", arguments: { text: "x" } });
    expect(answer).toHaveProperty("result");
    await new Promise(setImmediate);
    expect(server.observerFailures).toBe(2);
    expect(told.map(String)).toEqual(["Error: first", "Error: second"]);
  });

  it("are told of a failure when the result is no JSON, and the caller gets the error", async () => {
    const outcomes: string[] = [];
    const server = createMcpServer<string>({
      identity: { name: "big", version: "1" },
      authorize: () => true,
      observers: [({ outcome }) => void outcomes.push(outcome)],
      tools: [
        {
          name: "big",
          description: "returns what JSON cannot say",
          permission: "use",
          inputSchema: { type: "object" },
          handler: () => Object({ content: [{ type: "text", text: 10n }] }),
        },
      ],
    });
    const served = pipe(server, { onUnexpectedError: "continue" });
    served.send(toolCall(1, "big"));
    expect(await served.written(1)).toMatchObject([{ id: 1, error: { code: -32603 } }]);
    expect(outcomes).toEqual(["failure"]);
  });

  it("were told before handle rejects with what the handler threw", async () => {
    const order: string[] = [];
    const client = openClient(sampleServer({ observers: [({ outcome }) => void order.push(outcome)] }));
    await client.askModern("tools/call", { name: "breaks" }).catch((error: unknown) => void order.push(String(error)));
    expect(order).toEqual(["failure", "Error: the password is hunter2"]);
  });
});
