import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { RequestEvent } from "../../src/index.js";
import { errorOf, openClient, resultOf } from "../support/client.js";
import { notes } from "../support/notes.js";
import { sampleServer } from "../support/sample.js";

const sized = (bytes: number) => ({ experimental: { x: "x".repeat(bytes - '{"experimental":{"x":""}}'.length) } });
const turn = (): Promise<void> => new Promise(setImmediate);
/** As `node --expose-gc` has it. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect !== "function") throw new Error("there is no gc()");
  return () => void collect();
}
const revision = "2026-07-28";

describe("what a server keeps of a client's message", () => {
  it.each([
    { bytes: 1_024, code: undefined },
    { bytes: 1_025, code: -32602 },
  ])("capabilities of $bytes bytes under a limit of 1,024, of either era", async ({ bytes, code }) => {
    const server = sampleServer({ limits: { maxCapabilityBytes: 1_024 } });
    const [legacy, modern] = [openClient(server), openClient(server)];
    const answers = [
      await legacy.initialize("2025-11-25", sized(bytes)),
      await modern.askModern("tools/call", { name: "sum" }, sized(bytes)),
    ];
    for (const answer of answers) {
      if (code === undefined) resultOf(answer);
      else expect(errorOf(answer)).toMatchObject({ code, data: { limit: 1_024 } });
    }
    expect(legacy.connection.revision).toBe(code === undefined ? "2025-11-25" : undefined);
  });

  it("a handler sees what the client declared, and cannot change it", async () => {
    const seen: unknown[] = [];
    const server = sampleServer({
      tools: [
        {
          name: "see",
          description: "Sees capabilities",
          inputSchema: { type: "object" },
          permission: "use",
          handler: ({ clientCapabilities }) => {
            seen.push(clientCapabilities, Object.isFrozen(clientCapabilities["roots"]));
            return "seen";
          },
        },
      ],
    });
    const client = openClient(server);
    await client.initialize("2025-11-25", { roots: { listChanged: true }, "x-own": [1] });
    resultOf(await client.ask("tools/call", { name: "see" }));
    expect(seen).toEqual([{ roots: { listChanged: true }, "x-own": [1] }, true]);
  });

  it.each([
    { length: 1_024, code: undefined },
    { length: 1_025, code: -32600 },
  ])("an id of $length characters: it would come back with each notification", async ({ length, code }) => {
    const outcomes: string[] = [];
    const server = sampleServer({ observers: [({ outcome }) => void outcomes.push(outcome)] });
    const answer = await openClient(server).ask("ping", undefined, "i".repeat(length));
    if (code === undefined) resultOf(answer);
    else expect(errorOf(answer)).toMatchObject({ code, data: { limit: 1_024 } });
    expect(outcomes).toEqual([code === undefined ? "success" : "protocol-error"]);
  });

  it("progress is not told under a token that is longer than an id may be", async () => {
    const client = openClient(sampleServer());
    for (const length of [1_024, 1_025]) {
      resultOf(await client.askModern("tools/call", { name: "tells" }, {}, { progressToken: "t".repeat(length) }));
    }
    const told = client.sent.filter(({ method }) => method === "notifications/progress");
    expect(told.length).toBe(2);
  });

  it("addresses over 8,192 characters are refused, wherever one is named", async () => {
    const server = sampleServer(notes);
    const [legacy, modern] = [openClient(server), openClient(server)];
    await legacy.initialize();
    const uri = "u".repeat(8_193);
    const listening = { notifications: { resourceSubscriptions: [uri] } };
    for (const answer of [
      await legacy.ask("resources/subscribe", { uri }),
      await legacy.ask("resources/unsubscribe", { uri }),
      await legacy.ask("resources/read", { uri }),
      await modern.askModern("resources/read", { uri }),
      await modern.askModern("subscriptions/listen", listening),
    ])
      expect(errorOf(answer)).toEqual({ code: -32602, message: "the address is longer than 8192 characters" });
  });

  it("addresses of one connection are bounded together, and make room when they are given up", async () => {
    const template = {
      uriTemplate: "long:///{name}",
      name: "long",
      permission: "use",
      read: () => "read",
    };
    const server = sampleServer({ resourceTemplates: [template], limits: { maxSubscriptionBytes: 1_024 } });
    const client = openClient(server);
    await client.initialize();
    const uri = (name: string): string => `long:///${name.repeat(600 - "long:///".length)}`;
    resultOf(await client.ask("resources/subscribe", { uri: uri("a") }));
    resultOf(await client.ask("resources/subscribe", { uri: uri("a") }));
    expect(errorOf(await client.ask("resources/subscribe", { uri: uri("b") })).code).toBe(-32602);
    resultOf(await client.ask("resources/unsubscribe", { uri: uri("b") }));
    resultOf(await client.ask("resources/unsubscribe", { uri: uri("a") }));
    resultOf(await client.ask("resources/subscribe", { uri: uri("b") }));
  });

  it("a listen request over the limit is refused", async () => {
    const client = openClient(sampleServer({ limits: { maxSubscriptionBytes: 1_024 } }));
    const answer = await client.askModern("subscriptions/listen", { notifications: {}, x: "x".repeat(1_024) });
    expect(errorOf(answer)).toMatchObject({ code: -32602, data: { limit: 1_024 } });
  });

  it("an open listen request holds nothing of its message, and its event tells it all the same", async () => {
    const events: RequestEvent<string>[] = [];
    const server = sampleServer({ observers: [(event) => void events.push(event)] });
    const connection = server.openConnection({ send: () => undefined });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const make = () => ({
      notifications: { toolsListChanged: true },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": {},
        traceparent,
      },
    });
    const begin = (): { kept: WeakRef<object>; answer: Promise<unknown> } => {
      const params = make();
      const value = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params } as const;
      const message = { kind: "request", id: 1, method: value.method, params, value } as const;
      return { kept: new WeakRef(params), answer: server.handleMessage(message, { principal: "ada", connection }) };
    };
    const { kept, answer } = begin();
    const collect = collector();
    for (let turns = 0; turns < 100 && kept.deref() !== undefined; turns += 1) {
      await turn();
      collect();
    }
    expect(kept.deref()).toBeUndefined();
    await connection.close({ farewell: true });
    await answer;
    expect(events).toEqual([
      expect.objectContaining({ params: make(), trace: expect.objectContaining({ traceparent }) }),
    ]);
    expect(Object.isFrozen(events[0]?.params)).toBe(true);
  });
});
