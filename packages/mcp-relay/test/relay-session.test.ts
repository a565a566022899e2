import { describe, expect, it } from "vitest";
import { namesIn, openHarness } from "./support/relay-harness.js";
import { tool, toolServer } from "./support/scripted-server.js";

describe("relay session", () => {
  it("answers initialize without starting anything, then lists and calls the tools of two servers under their prefixes", async () => {
    await using relay = openHarness({
      a: { script: toolServer([tool("one")]) },
      b: { script: toolServer([tool("Two")]) },
    });
    const hello = await relay.client.initialize();
    expect(hello.message.result?.["serverInfo"]).toEqual({ name: "test-gateway", version: "1.2.3" });
    expect(relay.started("a")).toEqual([]);
    const list = await relay.client.request("tools/list");
    expect(namesIn(list, "tools")).toEqual(["a__one", "b__Two"]);
    const answer = await relay.client.request("tools/call", { name: "b__Two", arguments: { x: 1 } }, 7);
    expect(answer.text).toBe(
      `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\\"name\\":\\"Two\\",\\"arguments\\":{\\"x\\":1}}"}]}}`,
    );
  });
});
