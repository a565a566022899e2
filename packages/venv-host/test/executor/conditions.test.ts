import { expect, it } from "vitest";
import type { GlobalContext, JsonObject, PluginCondition } from "../../src/executor.js";
import { allow, runOver } from "./hosts.js";

const context: GlobalContext = {
  requestId: "r-1",
  user: "admin_alice",
  tenantId: "t-1",
  serverId: "s-1",
  contentType: "Application/JSON; charset=utf-8",
  state: {},
  metadata: {},
};

const isAsked = async (
  conditions: readonly PluginCondition[],
  more: { readonly hook?: string; readonly payload?: JsonObject; readonly globalContext?: GlobalContext } = {},
): Promise<boolean> => {
  const hook = more.hook ?? "tool_pre_invoke";
  const outcome = await runOver([{ name: "p", hooks: [hook], conditions, does: allow }], {
    globalContext: context,
    ...more,
  });
  return outcome.executions[0]?.status === "allowed";
};

it.each([
  { name: "no condition", conditions: [], asked: true },
  { name: "an empty condition", conditions: [{}], asked: true },
  { name: "an empty list", conditions: [{ tools: [] }], asked: true },
  { name: "its tool", conditions: [{ tools: ["add"] }], asked: true },
  { name: "another tool", conditions: [{ tools: ["sub"] }], asked: false },
  { name: "one of two conditions", conditions: [{ tools: ["sub"] }, { tools: ["add"] }], asked: true },
  { name: "its server and tenant", conditions: [{ serverIds: ["s-1"], tenantIds: ["t-1"] }], asked: true },
  { name: "its server, another tenant", conditions: [{ serverIds: ["s-1"], tenantIds: ["t-2"] }], asked: false },
  {
    name: "its content type, whatever its parameters",
    conditions: [{ contentTypes: ["application/json"] }],
    asked: true,
  },
  { name: "another content type", conditions: [{ contentTypes: ["text/plain"] }], asked: false },
  { name: "part of its user", conditions: [{ userPatterns: ["admin"] }], asked: true },
  { name: "another user", conditions: [{ userPatterns: ["bob"] }], asked: false },
  { name: "a prompt, in a tool hook", conditions: [{ prompts: ["x"] }], asked: true },
])("asks with $name: $asked", async ({ conditions, asked }) => {
  expect(await isAsked(conditions)).toBe(asked);
});

it.each([
  { hook: "prompt_pre_fetch", payload: { prompt_id: "x" }, key: "prompts" },
  { hook: "prompt_post_fetch", payload: { prompt_id: "x", result: 1 }, key: "prompts" },
  { hook: "resource_pre_fetch", payload: { uri: "x" }, key: "resources" },
  { hook: "resource_post_fetch", payload: { uri: "x", content: 1 }, key: "resources" },
  { hook: "agent_pre_invoke", payload: { agent_id: "x", messages: [] }, key: "agents" },
  { hook: "tool_post_invoke", payload: { name: "x", result: 1 }, key: "tools" },
  { hook: "token_delegate", payload: { target_name: "x" }, key: "tools" },
])("compares $key with the payload of $hook", async ({ hook, payload, key }) => {
  expect(await isAsked([{ [key]: ["x"] }], { hook, payload })).toBe(true);
  expect(await isAsked([{ [key]: ["y"] }], { hook, payload })).toBe(false);
});

it("asks about a payload that leaves the name out, whatever names are listed", async () => {
  const payload = { name: "", args: {} };
  expect(await isAsked([{ tools: ["add"] }], { payload })).toBe(true);
});

it("finds a pattern in any text of a structured user, and in none of an absent one", async () => {
  const user = { email: "alice@example.org" };
  expect(await isAsked([{ userPatterns: ["@example"] }], { globalContext: { ...context, user } })).toBe(true);
  expect(await isAsked([{ userPatterns: ["email"] }], { globalContext: { ...context, user } })).toBe(false);
  expect(await isAsked([{ userPatterns: ["a"] }], { globalContext: { ...context, user: undefined } })).toBe(false);
});

it("asks by the request as it came: no plugin decides by a change whether another is asked", async () => {
  const outcome = await runOver([
    { name: "renames", does: () => ({ modified_payload: { name: "sub" } }) },
    { name: "policy", conditions: [{ tools: ["add"] }], does: allow },
  ]);
  expect(outcome.executions.map(({ status }) => status)).toEqual(["modified", "allowed"]);
});

it.each([
  { name: "long", contentType: "x".repeat(201) },
  { name: "unprintable", contentType: "text/plain\u0000" },
])("refuses a $name content type, instead of passing by the plugins that ask for one", async ({ contentType }) => {
  await expect(isAsked([], { globalContext: { ...context, contentType } })).rejects.toMatchObject({
    code: "PAYLOAD_INVALID",
  });
});
