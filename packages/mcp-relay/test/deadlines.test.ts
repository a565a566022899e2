import { createMemoryPair } from "@berth/stdio-transport/memory";
import { describe, expect, it } from "vitest";
import { createManualScheduler } from "./support/manual-scheduler.js";
import { pinsOf } from "./support/pins.js";
import { openHarness } from "./support/relay-harness.js";
import { type Script, tool, toolServer } from "./support/scripted-server.js";

const silent: Script = toolServer([tool("x")], { "tools/call": () => undefined });
const never = () => new Promise<never>(() => undefined);

describe("deadlines", () => {
  it("of a call end it with CALL_TIMEOUT and tell the server; the late answer is dropped", async () => {
    const scheduler = createManualScheduler();
    await using relay = openHarness({ s: { script: silent, deadlines: { callMs: 1_000 } } }, { scheduler });
    await relay.client.initialize();
    relay.client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "s__x" } });
    await expect.poll(() => relay.started("s")).toHaveLength(1);
    const call = await relay.child("s").take(({ method }) => method === "tools/call");
    scheduler.advance(999);
    expect(relay.client.received.some(({ message }) => message.id === 1)).toBe(false);
    scheduler.advance(1);
    const { message } = await relay.client.take(({ id }) => id === 1);
    expect(message.error).toMatchObject({ code: -31102, data: { reason: "CALL_TIMEOUT", server: "s" } });
    expect(message.error?.message).toContain("deadlines.callMs");
    const cancelled = await relay.child("s").take(({ method }) => method === "notifications/cancelled");
    expect(cancelled.message.params?.["requestId"]).toBe(call.message.id);
    relay.child("s").send({ jsonrpc: "2.0", id: call.message.id, result: {} });
    await relay.client.request("ping");
    expect(relay.session.status()[0]?.state).toBe("ready");
    expect(relay.events.at(-1)).toMatchObject({
      type: "call.outcome",
      status: "timeout",
      reason: "CALL_TIMEOUT",
      durationMs: 1_000,
    });
  });

  it("of a call start again with progress, up to the ceiling", async () => {
    const scheduler = createManualScheduler();
    await using relay = openHarness(
      { s: { script: silent, deadlines: { callMs: 1_000, callMaxMs: 2_500 } } },
      { scheduler },
    );
    await relay.client.initialize();
    relay.client.send({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "s__x", _meta: { progressToken: 1 } },
    });
    await expect.poll(() => relay.started("s")).toHaveLength(1);
    await relay.child("s").take(({ method }) => method === "tools/call");
    for (let count = 0; count < 2; count += 1) {
      scheduler.advance(900);
      relay
        .child("s")
        .send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: count } });
      await relay.client.take(({ method }) => method === "notifications/progress");
    }
    scheduler.advance(699);
    expect(relay.client.received.some(({ message }) => message.id === 1)).toBe(false);
    scheduler.advance(1);
    expect((await relay.client.take(({ id }) => id === 1)).message.error?.data?.["reason"]).toBe("CALL_TIMEOUT");
  });

  it.each([
    { name: "does not come up", server: { open: never } },
    { name: "does not answer initialize", server: { script: { ...silent, initialize: () => undefined } } },
  ])("of a start end it with START_TIMEOUT when the server $name; the next call tries again", async ({ server }) => {
    const scheduler = createManualScheduler();
    await using relay = openHarness({ s: { ...server, deadlines: { startMs: 500 } } }, { scheduler });
    await relay.client.initialize();
    for (const id of [1, 2]) {
      relay.client.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "s__x" } });
      await expect.poll(() => relay.session.status()[0]?.starts).toBe(id);
      scheduler.advance(500);
      const { message } = await relay.client.take((candidate) => candidate.id === id);
      expect(message.error).toMatchObject({ code: -31102, data: { reason: "START_TIMEOUT" } });
    }
    expect(relay.started("s").every(({ wasClosed }) => wasClosed)).toBe(true);
  });

  it("of a start close a connection that comes after it, whenever it comes", async () => {
    const scheduler = createManualScheduler();
    let deliver: () => void = () => undefined;
    const late = new Promise<void>((resolve) => {
      deliver = resolve;
    });
    let closed = false;
    const open = async () => {
      await late;
      return {
        transport: createMemoryPair()[0],
        evidence: { evidence: "spawn-measured" as const },
        exited: never(),
        close: async () => {
          closed = true;
        },
      };
    };
    await using relay = openHarness({ s: { open, deadlines: { startMs: 500 } } }, { scheduler });
    await relay.client.initialize();
    relay.client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "s__x" } });
    await expect.poll(() => relay.session.status()[0]?.state).toBe("starting");
    scheduler.advance(500);
    await relay.client.take(({ id }) => id === 1);
    expect(closed).toBe(false);
    deliver();
    await expect.poll(() => closed).toBe(true);
  });

  it("of a list make a pinned server show its pins, and are waited for once", async () => {
    const scheduler = createManualScheduler();
    const script = { ...silent, "tools/list": () => undefined };
    await using relay = openHarness(
      { s: { script, tools: { pinned: pinsOf([tool("x")]) }, deadlines: { listMs: 200, startMs: 10_000 } } },
      { scheduler },
    );
    await relay.client.initialize();
    relay.client.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    await expect.poll(() => relay.started("s")).toHaveLength(1);
    await relay.child("s").take(({ method }) => method === "tools/list");
    scheduler.advance(200);
    const { message } = await relay.client.take(({ id }) => id === 1);
    expect(message.result?.["tools"]).toHaveLength(1);
  });
});
