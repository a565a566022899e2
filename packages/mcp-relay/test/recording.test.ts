import { describe, expect, it } from "vitest";
import type { RelayEvent } from "../src/index.js";
import { openHarness } from "./support/relay-harness.js";
import { type Script, tool, toolServer } from "./support/scripted-server.js";

const script = toolServer([tool("x")]);
const isCall = ({ method }: { readonly method?: string | undefined }) => method === "tools/call";
const textOf = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

describe("records", () => {
  it("of a call are its intent before it leaves and its outcome, with the bytes of the client's side", async () => {
    await using relay = openHarness({ s: { script } });
    await relay.client.initialize();
    const request = '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"s__x","arguments":{"n":1.0}}}';
    relay.client.send(request);
    const answer = await relay.client.take(({ id }) => id === 5);
    const [intent, outcome] = relay.events;
    expect(intent).toMatchObject({
      type: "call.intent",
      callId: "1",
      server: "s",
      method: "tools/call",
      tool: "x",
      evidence: { evidence: "spawn-measured" },
      definition: "unpinned",
    });
    expect(outcome).toMatchObject({ type: "call.outcome", callId: "1", server: "s", tool: "x", status: "result" });
    if (intent?.type === "call.intent") expect(textOf(intent.request)).toBe(request);
    if (outcome?.type === "call.outcome") expect(textOf(outcome.response)).toBe(answer.text);
  });

  it.each([
    { result: '{"content":[],"isError":true}', status: "tool-error" },
    { result: '{"content":[],"isError":false}', status: "result" },
    { result: '{"content":[{"type":"text","text":"\\"isError\\":true"}]}', status: "result" },
    { result: '{"structuredContent":{"isError":true},"content":[]}', status: "result" },
  ])("say $status for $result", async ({ result, status }) => {
    await using relay = openHarness({ s: { script: { ...script, "tools/call": () => result } } });
    await relay.client.initialize();
    await relay.client.request("tools/call", { name: "s__x" });
    expect(relay.events.at(-1)).toMatchObject({ type: "call.outcome", status });
  });

  it("that take time hold the call back until they are safe, and keep the order of calls", async () => {
    const durable: (() => void)[] = [];
    const record = (event: RelayEvent) =>
      event.type === "call.intent" ? new Promise<void>((resolve) => durable.push(resolve)) : undefined;
    await using relay = openHarness({ s: { script } }, { record });
    await relay.client.initialize();
    await relay.client.request("tools/list");
    for (const id of [1, 2])
      relay.client.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "s__x", id } });
    await expect.poll(() => durable).toHaveLength(2);
    await relay.client.request("ping");
    expect(relay.child("s").received.some(({ message }) => isCall(message))).toBe(false);
    for (const resolve of durable) resolve();
    const order = [await relay.child("s").take(isCall), await relay.child("s").take(isCall)];
    expect(order.map(({ message }) => message.params?.["id"])).toEqual([1, 2]);
  });

  it.each([
    { name: "rejects", record: () => Promise.reject(new Error("disk full")) },
    {
      name: "throws",
      record: () => {
        throw new Error("disk full");
      },
    },
  ])("that fail refuse the call: the recorder $name", async ({ record }) => {
    await using relay = openHarness({ s: { script } }, { record });
    await relay.client.initialize();
    const { message } = await relay.client.request("tools/call", { name: "s__x" });
    expect(message.error).toMatchObject({ code: -32603, data: { reason: "NOT_RECORDED" } });
    expect(message.error?.message).not.toContain("disk");
    expect(relay.child("s").received.some(({ message: { method } }) => method === "tools/call")).toBe(false);
    expect(relay.notices[0]).toMatchObject({ code: "NOT_RECORDED" });
  });

  it("of a call that is cancelled while its intent is written say so, and the call does not leave", async () => {
    const events: RelayEvent[] = [];
    let write: () => void = () => undefined;
    const record = (event: RelayEvent) => {
      events.push(event);
      return event.type === "call.intent" ? new Promise<void>((resolve) => (write = resolve)) : undefined;
    };
    await using relay = openHarness({ s: { script } }, { record });
    await relay.client.initialize();
    relay.client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "s__x" } });
    await expect.poll(() => events).toHaveLength(1);
    relay.client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await relay.client.request("ping");
    write();
    await expect.poll(() => events).toHaveLength(2);
    expect(events[1]).toMatchObject({ type: "call.outcome", status: "cancelled" });
    expect(relay.child("s").received.some(({ message }) => isCall(message))).toBe(false);
  });

  it("of refusals hold code, reason, digests, and both frames", async () => {
    class Refusal extends Error {
      readonly reason = "DIGEST_MISMATCH";
      readonly advice = "run pin";
      readonly expected = "sha256:aa";
      readonly measured = "sha256:bb";
    }
    await using relay = openHarness({ s: { open: () => Promise.reject(new Refusal("differs")) } });
    await relay.client.initialize();
    const answer = await relay.client.request("tools/call", { name: "s__x" });
    expect(answer.message.error?.message).toBe("differs. run pin");
    const [refused] = relay.events;
    expect(refused).toMatchObject({
      type: "call.refused",
      server: "s",
      tool: "x",
      method: "tools/call",
      code: -31100,
      reason: "DIGEST_MISMATCH",
      expected: "sha256:aa",
      measured: "sha256:bb",
    });
    if (refused?.type === "call.refused") expect(textOf(refused.response)).toBe(answer.text);
  });

  it("of a child's end hold how it ended, its stderr bytes and its evidence", async () => {
    await using relay = openHarness({ s: { script: { ...script, "tools/call": () => undefined } } });
    await relay.client.initialize();
    relay.client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "s__x" } });
    await expect.poll(() => relay.started("s")).toHaveLength(1);
    await relay.child("s").take(isCall);
    relay.child("s").exit(3);
    const { message } = await relay.client.take(({ id }) => id === 1);
    expect(message.error).toMatchObject({
      code: -31102,
      data: { reason: "CHILD_EXITED", exitCode: 3, stderrBytes: 7 },
    });
    expect(message.error?.message).toContain("exit code 3, 7 bytes on stderr");
    await expect.poll(() => relay.events).toHaveLength(3);
    expect(relay.events.slice(1)).toMatchObject([
      { type: "call.outcome", status: "child-exited", reason: "CHILD_EXITED" },
      { type: "child.exit", reason: "CHILD_EXITED", exit: { code: 3, signal: null }, stderrBytes: 7, droppedLines: 0 },
    ]);
  });

  it("of every intent have one outcome when the session ends, and no child is left", async () => {
    const silent: Script = { ...script, "tools/call": () => undefined };
    const relay = openHarness({ a: { script: silent }, b: { script: silent } });
    await relay.client.initialize();
    await relay.client.request("tools/list");
    for (const [id, name] of [
      [1, "a__x"],
      [2, "b__x"],
      [3, "a__x"],
    ] as const) {
      relay.client.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name } });
    }
    for (const server of ["a", "b", "a"]) await relay.child(server).take(isCall);
    await relay.client.close();
    await relay.session.closed;
    const ids = (type: string) =>
      relay.events.flatMap((event) => (event.type === type && "callId" in event ? [event.callId] : [])).sort();
    expect(ids("call.outcome")).toEqual(ids("call.intent"));
    expect(relay.events.filter(({ type }) => type === "child.exit")).toMatchObject([
      { reason: "SESSION_CLOSED" },
      { reason: "SESSION_CLOSED" },
    ]);
    expect([...relay.started("a"), ...relay.started("b")].every(({ wasClosed }) => wasClosed)).toBe(true);
  });
});

describe("closing", () => {
  it("may be asked for again and at any moment, also while a server starts", async () => {
    let aborted = false;
    const open = (signal: AbortSignal) =>
      new Promise<never>(() => {
        signal.addEventListener("abort", () => {
          aborted = true;
        });
      });
    const relay = openHarness({ s: { open } });
    await relay.client.initialize();
    relay.client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "s__x" } });
    await expect.poll(() => relay.session.status()[0]?.state).toBe("starting");
    await Promise.all([relay.session.close(), relay.session.close(), relay.session[Symbol.asyncDispose]()]);
    await relay.session.closed;
    expect(aborted).toBe(true);
    expect(relay.events).toMatchObject([{ type: "call.refused", reason: "SESSION_CLOSED" }]);
  });

  it("ends a session in which nothing was ever asked", async () => {
    const relay = openHarness({ s: { script } });
    await relay.client.close();
    await relay.session.closed;
    expect(relay.started("s")).toEqual([]);
  });
});
