import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extraMembers, jsonText } from "./support/json-text.js";
import { openHarness } from "./support/relay-harness.js";
import { tool, toolServer } from "./support/scripted-server.js";

const shuffled = (members: readonly string[]) =>
  fc.shuffledSubarray([...members], { minLength: members.length, maxLength: members.length });

describe("a relayed payload", () => {
  it("is kept to the byte both ways, outside the id and the name, whatever its spelling", async () => {
    const silent = toolServer([tool("x")], { "tools/call": () => undefined });
    await using relay = openHarness({ server: { script: silent } });
    await relay.client.initialize();
    await relay.client.request("tools/list");
    const envelope = fc
      .tuple(extraMembers, jsonText, extraMembers)
      .chain(([params, args, more]) =>
        fc.tuple(shuffled(['"name":"NAME"', `"arguments":${args}`, ...params]), fc.constant(more)),
      )
      .chain(([params, more]) =>
        shuffled(['"jsonrpc":"2.0"', '"id":ID', '"method":"tools/call"', `"params":{${params.join(" ,")}}`, ...more]),
      );
    const answer = fc
      .tuple(jsonText, extraMembers)
      .chain(([result, more]) => shuffled(['"jsonrpc":"2.0"', '"id":ID', `"result":${result}`, ...more]));
    let id = 1_000;
    await fc.assert(
      fc.asyncProperty(envelope, answer, async (request, response) => {
        id += 1;
        const fill = (members: readonly string[], ownId: string, name: string) =>
          `{${members.map((member) => member.replace('"id":ID', `"id":${ownId}`).replace('"name":"NAME"', `"name":"${name}"`)).join(",")}}`;
        relay.client.send(fill(request, `"${id}"`, "server__x"));
        const call = await relay.child("server").take(({ method }) => method === "tools/call");
        const own = String(call.message.id);
        expect(call.text).toBe(fill(request, own, "x"));
        relay.child("server").send(fill(response, own, ""));
        const back = await relay.client.take((message) => message.id === String(id));
        expect(back.text).toBe(fill(response, `"${id}"`, ""));
      }),
      { numRuns: 400 },
    );
    expect(relay.faults).toEqual([]);
  });

  it("of ten megabytes passes unchanged", async () => {
    const text = "0123456789".repeat(1_000_000);
    const script = toolServer([tool("x")], {
      "tools/call": ({ params }) => JSON.stringify({ content: [{ type: "text", text: params?.["text"] ?? "" }] }),
    });
    await using relay = openHarness({ s: { script } });
    await relay.client.initialize();
    const { message } = await relay.client.request("tools/call", { name: "s__x", text });
    expect(JSON.stringify(message.result)).toContain(text);
  });
});
