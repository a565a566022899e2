import { execFileSync } from "node:child_process";
import { expect } from "vitest";
import { partTest, pythonOf } from "../../../../fixtures/parts.js";
import { createPluginHost, type GlobalContext, inProcess, readPluginsConfig } from "../../src/executor.js";

/** A condition as a file has it, and a request of a tool call unless it says another. */
interface Case {
  readonly name: string;
  readonly condition: Readonly<Record<string, readonly string[]>>;
  readonly context?: Partial<Omit<GlobalContext, "requestId" | "state" | "metadata">>;
  readonly hook?: "tool_pre_invoke" | "prompt_pre_fetch" | "identity_resolve";
  readonly asked: boolean;
  /** What cpex says, where that is another thing: see "Differences" in the README. */
  readonly askedByCpex?: boolean;
}

const cases: readonly Case[] = [
  { name: "part of the user", condition: { user_patterns: ["admin"] }, context: { user: "admin_alice" }, asked: true },
  { name: "another user", condition: { user_patterns: ["bob"] }, context: { user: "admin_alice" }, asked: false },
  { name: "no user", condition: { user_patterns: ["admin"] }, asked: false },
  { name: "a user without a name", condition: { user_patterns: ["admin"] }, context: { user: "" }, asked: false },
  { name: "no user and its tool", condition: { user_patterns: ["admin"], tools: ["add"] }, asked: false },
  { name: "no user and an empty list", condition: { user_patterns: [] }, asked: true },
  { name: "no server", condition: { server_ids: ["s-1"] }, asked: false },
  { name: "no tenant", condition: { tenant_ids: ["t-1"] }, asked: false },
  { name: "its tenant", condition: { tenant_ids: ["t-1"] }, context: { tenantId: "t-1" }, asked: true },
  { name: "no content type", condition: { content_types: ["text/plain"] }, asked: false },
  {
    name: "its content type with parameters",
    condition: { content_types: ["text/plain"] },
    context: { contentType: "Text/Plain; charset=utf-8" },
    asked: true,
  },
  { name: "another tool", condition: { tools: ["sub"] }, asked: false },
  { name: "a tool, in a prompt's hook", condition: { tools: ["sub"] }, hook: "prompt_pre_fetch", asked: true },
  { name: "another prompt", condition: { prompts: ["sub"] }, hook: "prompt_pre_fetch", asked: false },
  {
    name: "a text of a structured user",
    condition: { user_patterns: ["alice"] },
    context: { user: { email: "alice@example.org" } },
    asked: true,
    askedByCpex: false,
  },
  {
    name: "a member's name of a structured user",
    condition: { user_patterns: ["email"] },
    context: { user: { email: "alice@example.org" } },
    asked: false,
    askedByCpex: true,
  },
  {
    name: "its content type, spelled otherwise in the file",
    condition: { content_types: ["Text/Plain"] },
    context: { contentType: "text/plain" },
    asked: true,
  },
  {
    name: "a tool, in an identity's hook",
    condition: { tools: ["add"] },
    hook: "identity_resolve",
    asked: true,
    askedByCpex: false,
  },
];

const payloads = {
  tool_pre_invoke: { name: "add", args: {} },
  prompt_pre_fetch: { prompt_id: "add", args: {} },
  identity_resolve: { raw_token: "t".repeat(20), source: "bearer", headers: {} },
} as const;

const program = `
import json, sys
from cpex.framework import GlobalContext, PluginCondition
from cpex.framework.hooks.identity import IdentityPayload
from cpex.framework.hooks.prompts import PromptPrehookPayload
from cpex.framework.hooks.tools import ToolPreInvokePayload
from cpex.framework.utils import payload_matches
models = {"tool_pre_invoke": ToolPreInvokePayload, "prompt_pre_fetch": PromptPrehookPayload, "identity_resolve": IdentityPayload}
print(json.dumps([
    payload_matches(models[hook](**payload), hook, [PluginCondition(**condition)], GlobalContext(request_id="r", **context))
    for hook, payload, condition, context in json.load(sys.stdin)
]))
`;

function askedByCpex(): unknown {
  const asked = cases.map(({ hook = "tool_pre_invoke", condition, context = {} }) => {
    const { user, tenantId: tenant_id, contentType: content_type } = context;
    return [hook, payloads[hook], condition, { user, tenant_id, content_type }];
  });
  const run = { input: JSON.stringify(asked), encoding: "utf8" } as const;
  return JSON.parse(execFileSync(pythonOf("cpex-0.1.4"), ["-c", program], run));
}

async function isAsked({ condition, context, hook = "tool_pre_invoke" }: Case): Promise<boolean> {
  const entry = { name: "p", kind: "own", hooks: [hook], conditions: [condition] };
  const config = await readPluginsConfig(JSON.stringify({ plugins: [entry] }));
  await using host = createPluginHost({ config, kinds: [inProcess("own", { p: { hooks: { [hook]: () => ({}) } } })] });
  const globalContext = { ...context, state: {}, metadata: {} };
  const { executions } = await host.run({ hook, payload: payloads[hook], globalContext });
  return executions[0]?.status === "allowed";
}

partTest("cpex-0.1.4")(
  "a plugin is asked when cpex 0.1.4 would ask it, but for what the README says",
  async () => {
    const told = await Promise.all(cases.map(async (one) => ({ name: one.name, asked: await isAsked(one) })));
    expect(told).toEqual(cases.map(({ name, asked }) => ({ name, asked })));
    expect(askedByCpex()).toEqual(cases.map((one) => one.askedByCpex ?? one.asked));
  },
  120_000,
);
