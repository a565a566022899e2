import type { JsonObject } from "@berth/jsonrpc-framing";
import { RpcError } from "@berth/mcp-server";
import { expect, it } from "vitest";
import { firstOwners } from "../src/process/first-owners.js";
import type { McpHalf } from "../src/process/mcp-halves.js";
import { offersOf, type PluginOffers } from "../src/process/plugin-offers.js";

const calls = { run: () => Promise.reject(new Error("nothing is asked here")) };

/** What one plugin that answers so has, and what was told of it. */
async function ask(
  answers: Readonly<Record<string, () => Promise<JsonObject>>>,
  listMs = 10_000,
): Promise<{ readonly offers: PluginOffers; readonly told: readonly string[] }> {
  const told: string[] = [];
  const half: McpHalf = {
    plugin: "p",
    request: ({ method, signal }) =>
      answers[method]?.() ??
      new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true })),
  };
  const offers = await offersOf({ half, calls }, "use", {
    signal: new AbortController().signal,
    onNote: (line) => void told.push(line),
    onGone: (fault, isAtFirst) => void told.push(`gone${isAtFirst ? " at first" : ""}: ${fault}`),
    listMs,
  });
  return { offers, told };
}

const tools = async (): Promise<JsonObject> => ({ tools: [{ name: "t", inputSchema: { type: "object" } }] });
const has = (...names: readonly string[]) => ({
  "server/discover": async () => ({ capabilities: Object.fromEntries(names.map((name) => [name, {}])) }),
});

it("a plugin that takes too long for its lists is told, and what it said before is served", async () => {
  const { offers, told } = await ask({ "tools/list": tools, ...has("prompts", "resources") }, 30);
  expect(told).toEqual(["gone: Error: the plugin took more than 30 ms for its lists"]);
  expect(offers.tools.map(({ definition }) => definition["name"])).toEqual(["p__t"]);
  expect([offers.prompts, offers.addresses !== undefined]).toEqual([[], true]);
  const silent = await ask({}, 30);
  expect(silent.told).toEqual(["gone at first: Error: the plugin took more than 30 ms for its lists"]);
  expect(silent.offers.isUnknown).toBe(true);
});

it("nothing is asked for that server/discover does not name", async () => {
  const { offers, told } = await ask({ "tools/list": tools, ...has("tools") });
  expect(told).toEqual([]);
  expect(offers).toMatchObject({ prompts: [], resources: [], templates: [], addresses: undefined, isUnknown: false });
});

it("tools that are named and cannot be listed are told; those of a plugin without tools are not", async () => {
  const refused = async (): Promise<JsonObject> => {
    throw new RpcError(-32601, "no");
  };
  const lists = { "tools/list": refused, "prompts/list": async () => ({ prompts: [{ name: "a" }] }) };
  expect((await ask({ ...lists, ...has("prompts") })).told).toEqual([]);
  const both = await ask({ ...lists, ...has("tools", "prompts") });
  expect(both.told).toEqual(["its tools cannot be listed: no"]);
  expect(both.offers.prompts).toHaveLength(1);
});

it("an address belongs to the first plugin that lists it, and what is left out is told in one line a plugin", () => {
  const told: string[] = [];
  const listing = (plugin: string, ...addresses: readonly string[]) => ({
    plugin,
    listed: addresses.map((address) => ({ address, plugin })),
  });
  const many = Array.from({ length: 12 }, (_, at) => `m:${at}`);
  const kept = firstOwners(
    "resources",
    [listing("a", "x:1", "x:1"), listing("b", "x:1", "x:2", ...many), listing("c", ...many, "x:\u202e")],
    (plugin, line) => void told.push(`${plugin}: ${line}`),
  );
  expect(kept.map(({ plugin, address }) => `${plugin} ${address}`)).toEqual([
    "a x:1",
    "b x:2",
    ...many.map((address) => `b ${address}`),
    "c x:\u202e",
  ]);
  expect(told).toEqual([
    'a: 1 resources are left out, since they are listed before by itself: "x:1"',
    'b: 1 resources are left out, since they are listed before by plugin a: "x:1"',
    `c: 12 resources are left out, since they are listed before by plugin b: ${many
      .slice(0, 10)
      .map((address) => `"${address}"`)
      .join(", ")}, and 2 more`,
  ]);
});
