import { describe, expect, it } from "vitest";
import { pinsOf } from "./support/pins.js";
import { openHarness } from "./support/relay-harness.js";
import { openScripted, type ScriptedServer, tool, toolServer } from "./support/scripted-server.js";

describe("the second look at what runs", () => {
  it("comes after initialize and before any list or call; a refusal ends the child and is what the client gets", async () => {
    const refusal = Object.assign(new Error("the file changed while it started"), {
      reason: "TARGET_CHANGED",
      expected: "a",
      measured: "b",
    });
    let server: ScriptedServer | undefined;
    let seen: (string | undefined)[] = [];
    const open = async () => {
      server = openScripted(toolServer([tool("x")]));
      const { connection, received } = server;
      const recheck = async () => {
        seen = received.map(({ message }) => message.method);
        throw refusal;
      };
      return { ...connection, recheck };
    };
    await using relay = openHarness({ s: { open, tools: { pinned: pinsOf([tool("x")]) } } });
    await relay.client.initialize();
    const { message } = await relay.client.request("tools/call", { name: "s__x" });
    expect(message.error).toMatchObject({
      code: -31100,
      message: "the file changed while it started",
      data: { reason: "TARGET_CHANGED", server: "s", expected: "a", measured: "b" },
    });
    expect(seen[0]).toBe("initialize");
    expect(seen).not.toContain("tools/list");
    expect(server?.wasClosed).toBe(true);
    await expect.poll(() => relay.events.map(({ type }) => type)).toEqual(["call.refused", "child.exit"]);
    expect(relay.events[1]).toMatchObject({ reason: "TARGET_CHANGED" });
  });

  it("holds the first call back, and the news that the session is open, until it is done", async () => {
    let finish: (() => void) | undefined;
    let server: ScriptedServer | undefined;
    const open = async () => {
      server = openScripted(toolServer([tool("x")]));
      const recheck = () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        });
      return { ...server.connection, recheck };
    };
    await using relay = openHarness({ s: { open } });
    await relay.client.initialize();
    const call = relay.client.request("tools/call", { name: "s__x" });
    await expect.poll(() => finish).toBeDefined();
    expect(server?.received.map(({ message }) => message.method)).toEqual(["initialize"]);
    finish?.();
    expect((await call).message.result).toBeDefined();
  });
});
