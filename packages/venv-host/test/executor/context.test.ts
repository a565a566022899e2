import { expect, it } from "vitest";
import type { PluginContext } from "../../src/executor.js";
import { allow, hostOf, requestOf, runOver, type TestPlugin } from "./hosts.js";

const BOTH = ["tool_pre_invoke", "tool_post_invoke"];
const post = { hook: "tool_post_invoke", payload: { name: "add", result: 1 } };

/** Keeps the contexts that it is shown, and answers with notes. */
function noting(name: string, seen: PluginContext[], notes: object, more: Partial<TestPlugin> = {}): TestPlugin {
  const does: TestPlugin["does"] = ({ context }) => {
    seen.push(context);
    return { context: notes };
  };
  return { name, hooks: BOTH, does, ...more };
}

it("gives a plugin its notes back in the hook after the same call, merged per key, and to no other plugin", async () => {
  const seen: PluginContext[] = [];
  const host = hostOf([noting("a", seen, { state: { kept: 1, over: 1 } }), noting("b", seen, {})]);
  const before = await host.run(requestOf());
  await host.run(requestOf({ ...post, carried: before.carried }));
  expect(seen.map(({ state }) => state)).toEqual([{}, {}, { kept: 1, over: 1 }, {}]);
  await host.close();
});

it("merges what plugins note for others per key; of audit plugins nothing", async () => {
  const seen: PluginContext[] = [];
  const host = hostOf([
    noting("a", seen, { global_context: { state: { a: 1, both: "a" } } }),
    noting("b", seen, { global_context: { state: { b: 1, both: "b" } } }, { mode: "transform" }),
    noting("c", seen, { global_context: { state: { c: 1 } }, state: { own: 1 } }, { mode: "audit" }),
    noting("d", seen, {}, { mode: "concurrent" }),
  ]);
  const given = { requestId: "r-1", state: { given: 1 }, metadata: {} };
  const before = await host.run(requestOf({ globalContext: given }));
  expect(seen.map(({ globalContext }) => globalContext.state)).toEqual([
    { given: 1 },
    { given: 1, a: 1, both: "a" },
    { given: 1, a: 1, b: 1, both: "b" },
    { given: 1, a: 1, b: 1, both: "b" },
  ]);
  seen.length = 0;
  await host.run(requestOf({ ...post, globalContext: given, carried: before.carried }));
  expect(seen[0]?.globalContext.state).toEqual({ given: 1, a: 1, b: 1, both: "b" });
  expect(seen[2]?.state).toEqual({ own: 1 });
  await host.close();
});

it("refuses notes that are not its own, or of another request, and shows none of them", async () => {
  const host = hostOf([
    { name: "a", hooks: BOTH, does: () => ({ context: { state: { secret: "note-of-a-plugin" } } }) },
  ]);
  const { carried } = await host.run(requestOf());
  expect(JSON.stringify(carried)).toBe('{"requestId":"r-1"}');
  const other = { requestId: "r-2", state: {}, metadata: {} };
  for (const part of [{ carried: { ...carried } }, { carried, globalContext: other }]) {
    await expect(host.run(requestOf({ ...post, ...part }))).rejects.toMatchObject({ code: "OPTION_INVALID" });
  }
  await expect(runOver([{ name: "a", does: allow }], { carried })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  await host.close();
});

it.each([
  {
    name: "the one given",
    context: { requestId: "given", state: { request_id: "in-state" }, metadata: {} },
    id: "given",
  },
  { name: "that of the state", context: { state: { request_id: "in-state" }, metadata: {} }, id: "in-state" },
  {
    name: "a new one",
    context: { state: { request_id: 7 }, metadata: {} },
    id: expect.stringMatching(/^[0-9a-f-]{36}$/u),
  },
])("takes as request id $name", async ({ context, id }) => {
  const seen: PluginContext[] = [];
  await runOver([noting("a", seen, {})], { globalContext: context });
  expect(seen[0]?.globalContext.requestId).toEqual(id);
});

it.each([
  { name: "a user that is a list", part: { user: [] } },
  { name: "a state that is a text", part: { state: "x" } },
  { name: "a tenant that is a number", part: { tenantId: 1 } },
  { name: "an empty request id", part: { requestId: "" } },
])("refuses $name", async ({ part }) => {
  const globalContext = Object.assign({ requestId: "r", state: {}, metadata: {} }, part);
  await expect(runOver([{ name: "a", does: allow }], { globalContext })).rejects.toMatchObject({
    code: "PAYLOAD_INVALID",
  });
});
