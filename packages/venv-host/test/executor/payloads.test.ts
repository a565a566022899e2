import { expect, it } from "vitest";
import type { JsonObject, PluginCall } from "../../src/executor.js";
import { allow, keeping, runOver, type TestPlugin } from "./hosts.js";

const over = (hook: string, does: TestPlugin["does"], payload: JsonObject, more: Partial<TestPlugin> = {}) =>
  runOver([{ name: "p", hooks: [hook], does, ...more }], { hook, payload });

const message = { role: "user", content: [{ content_type: "text", text: "hello" }] };
const http = { path: "/", method: "GET", headers: { Accept: "*/*" } };

/** Of each hook: its least payload, one that is not of its form, and a changed one. */
const HOOKS = [
  { hook: "tool_pre_invoke", least: { name: "t" }, broken: { args: {} }, changed: { name: "u", args: { a: [1] } } },
  {
    hook: "tool_post_invoke",
    least: { name: "t", result: null },
    broken: { name: "t" },
    changed: { name: "t", result: 1 },
  },
  {
    hook: "prompt_pre_fetch",
    least: { prompt_id: "p" },
    broken: { prompt_id: "p", args: { a: 1 } },
    changed: { prompt_id: "q" },
  },
  {
    hook: "prompt_post_fetch",
    least: { prompt_id: "p", result: {} },
    broken: { result: {} },
    changed: { prompt_id: "p", result: 2 },
  },
  { hook: "resource_pre_fetch", least: { uri: "u" }, broken: { uri: 1 }, changed: { uri: "v", metadata: { m: 1 } } },
  {
    hook: "resource_post_fetch",
    least: { uri: "u", content: "c" },
    broken: { uri: "u" },
    changed: { uri: "u", content: {} },
  },
  {
    hook: "agent_pre_invoke",
    least: { agent_id: "a", messages: [] },
    broken: { agent_id: "a" },
    changed: { agent_id: "a", messages: [{}], tools: ["x"] },
  },
  {
    hook: "agent_post_invoke",
    least: { agent_id: "a", messages: [] },
    broken: { messages: [] },
    changed: { agent_id: "a", messages: [], tool_calls: [{}] },
  },
  {
    hook: "cmf.tool_pre_invoke",
    least: { message },
    broken: { name: "t" },
    changed: { message: { ...message, content: [] }, hook: "tool_pre_invoke" },
  },
  {
    hook: "cmf.llm_input",
    least: { message },
    broken: { message: { content: [] } },
    changed: { message: { ...message, channel: "final" } },
  },
  {
    hook: "cmf.something_new",
    least: { message },
    broken: { message: { role: "user", content: [{}] } },
    changed: { message: { role: "user" } },
  },
  { hook: "evaluate", least: { message }, broken: { message: "m" }, changed: { message: { role: "tool" } } },
] as const;

it.each(HOOKS)("routes $hook to its own payload, both ways", async ({ hook, least, broken, changed }) => {
  const calls: PluginCall[] = [];
  const outcome = await over(hook, keeping(calls, { modified_payload: changed }), least);
  expect(calls[0]?.payload).toEqual(least);
  expect(outcome.payload).toEqual(changed);
  await expect(over(hook, allow, broken)).rejects.toMatchObject({
    code: "PAYLOAD_INVALID",
    message: expect.stringContaining(hook),
  });
  const mismatch = await over(hook, () => ({ modified_payload: broken }), least);
  expect(mismatch.violation).toMatchObject({ code: "plugin_error", details: { error: "PROTOCOL_ERROR" } });
  expect(mismatch.violation?.reason).toContain(`that of ${hook}`);
});

it("passes any object through for a hook that nobody knows", async () => {
  const outcome = await over("my_own_hook", (call) => ({ modified_payload: { ...call.payload, b: null } }), {
    a: null,
  });
  expect(outcome.payload).toEqual({ a: null, b: null });
  const wrong = await over("my_own_hook", () => ({ modified_payload: [1] }), {});
  expect(wrong.violation?.details).toEqual({ error: "PROTOCOL_ERROR" });
});

it("leaves absent optionals out, in both directions, and keeps members that it does not know", async () => {
  const calls: PluginCall[] = [];
  const given = { name: "t", args: null, headers: null, newer: null };
  const outcome = await over("tool_pre_invoke", keeping(calls, { modified_payload: { ...given, name: "u" } }), given);
  expect(calls[0]?.payload).toEqual({ name: "t", newer: null });
  expect(outcome.payload).toEqual({ name: "u", newer: null });
});

const IDENTITY = { source: "bearer", headers: { Accept: "x" } };
const subject = { id: "alice", type: "user", roles: ["admin"] };

it("reads the answer of identity_resolve by its result model", async () => {
  const result = {
    subject,
    delegation: null,
    rejected: false,
    reject_status: 401,
    reject_reason: "",
    raw_claims: { a: 1 },
  };
  const outcome = await over("identity_resolve", () => ({ modified_payload: result }), IDENTITY);
  const { delegation: _absent, ...rest } = result;
  expect(outcome.result).toEqual(rest);
  expect(outcome.payload).toEqual({ ...IDENTITY, raw_token: "**********" });
});

it.each([
  { name: "the payload instead of a result", modified: IDENTITY },
  { name: "a subject without id", modified: { subject: { type: "user" } } },
  { name: "rejected that is no flag", modified: { rejected: "no" } },
])("refuses $name of identity_resolve", async ({ modified }) => {
  const outcome = await over("identity_resolve", () => ({ modified_payload: modified }), IDENTITY);
  expect(outcome.violation?.reason).toContain("identity_resolve");
  expect([outcome.result, outcome.violation?.details]).toEqual([undefined, { error: "PROTOCOL_ERROR" }]);
});

it("takes a rejected identity as a deny, with its status and reason", async () => {
  const modified = { rejected: true, reject_status: 403, reject_reason: "expired" };
  const outcome = await over("identity_resolve", () => ({ modified_payload: modified }), IDENTITY);
  expect(outcome.violation).toMatchObject({ code: "identity_rejected", reason: "expired", httpStatusCode: 403 });
  const broken = { ...modified, subject: 7, raw_claims: [] };
  const anyway = await over("identity_resolve", () => ({ modified_payload: broken }), IDENTITY, { onError: "ignore" });
  expect(anyway.violation).toMatchObject({ code: "identity_rejected" });
  const bare = await over("identity_resolve", () => ({ modified_payload: { rejected: true } }), IDENTITY);
  expect(bare.violation).toMatchObject({ reason: "the identity was rejected", httpStatusCode: 401 });
});

it("reads the answer of token_delegate by its result model", async () => {
  const target = { target_name: "tool-a", route_attenuation: { actions: ["read"] } };
  const result = {
    delegated_token: "made-for-tool-a",
    forwarded_headers: { Authorization: "Bearer made-for-tool-a" },
    cache_ttl: 60,
  };
  const outcome = await over("token_delegate", () => ({ modified_payload: result }), target);
  expect([outcome.allowed, outcome.result, outcome.payload]).toEqual([true, result, target]);
  const wrong = await over("token_delegate", () => ({ modified_payload: target }), target);
  expect(wrong.violation?.reason).toContain("token_delegate");
  await expect(over("token_delegate", allow, {})).rejects.toMatchObject({ code: "PAYLOAD_INVALID" });
});

it("takes the answers of http hooks as headers over those of the payload", async () => {
  const seen: PluginCall[] = [];
  const sets = (headers: JsonObject, name: string): TestPlugin => ({
    name,
    hooks: ["http_pre_request"],
    does: keeping(seen, { modified_payload: headers }),
  });
  const outcome = await runOver([sets({ accept: "text/html" }, "a"), sets({ Authorization: "Bearer new" }, "b")], {
    hook: "http_pre_request",
    payload: http,
  });
  expect(seen.map((call) => call.payload["headers"])).toEqual([{ Accept: "*/*" }, { Accept: "text/html" }]);
  expect(outcome.payload["headers"]).toEqual({ Accept: "text/html", Authorization: "Bearer new" });
  expect(outcome.result).toEqual({ accept: "text/html", Authorization: "Bearer new" });
  const post = await over("http_post_request", () => ({ modified_payload: { "X-Done": "1" } }), {
    ...http,
    status_code: 200,
  });
  expect(post.payload["response_headers"]).toEqual({ "X-Done": "1" });
  const wrong = await over("http_pre_request", () => ({ modified_payload: { "X-A": "1\r\nX-B: 2" } }), http);
  expect(wrong.violation?.details).toEqual({ error: "PROTOCOL_ERROR" });
});

it("takes the answers of http_auth hooks as results", async () => {
  const user = await over("http_auth_resolve_user", () => ({ modified_payload: { email: "a@b" } }), { headers: {} });
  expect(user.result).toEqual({ email: "a@b" });
  const check = { user_email: "a@b", permission: "tools.read" };
  const granted = await over("http_auth_check_permission", () => ({ modified_payload: { granted: false } }), check);
  expect([granted.result, granted.allowed]).toEqual([{ granted: false }, true]);
  const wrong = await over("http_auth_check_permission", () => ({ modified_payload: check }), check);
  expect(wrong.violation?.reason).toContain("http_auth_check_permission");
});

it.each([
  { name: "nothing", answer: {} },
  {
    name: "nulls",
    answer: {
      continue_processing: null,
      modified_payload: null,
      modified_extensions: null,
      violation: null,
      metadata: null,
      http_headers: null,
      context: null,
    },
  },
  { name: "a violation that does not deny", answer: { continue_processing: true, violation: { reason: "r" } } },
  { name: "what a newer framework adds", answer: { executions: [{}], brand_new: 1 } },
])("takes an answer of $name as allow", async ({ answer }) => {
  const outcome = await over("tool_pre_invoke", () => answer, { name: "t" });
  expect([outcome.allowed, outcome.violation, outcome.executions[0]?.status]).toEqual([true, undefined, "allowed"]);
});

it.each([
  { name: "none", answer: undefined },
  { name: "null, as of a hook that returns None", answer: null },
  { name: "a list", answer: [] },
  { name: "continue_processing that is no flag", answer: { continue_processing: 0 } },
  { name: "a payload that is no object", answer: { modified_payload: "x" } },
  { name: "extensions that are no object", answer: { modified_extensions: [] } },
  { name: "metadata that is no object", answer: { metadata: "x" } },
  { name: "headers that are none", answer: { http_headers: { a: 1 } } },
  { name: "an endless wait", answer: { retry_delay_ms: -1 } },
  { name: "a context that is no object", answer: { context: 1 } },
])("takes an answer of $name as the plugin's failure", async ({ answer }) => {
  const outcome = await over("tool_pre_invoke", () => answer, { name: "t" });
  expect(outcome.violation).toMatchObject({ code: "plugin_error", details: { error: "PROTOCOL_ERROR" } });
  expect(outcome.violation?.reason).toContain("tool_pre_invoke");
});

it("reads all that a violation says, and the older name of its code", async () => {
  const violation = {
    reason: "r",
    description: "d",
    code: "C",
    details: { a: 1 },
    proto_error_code: -32000,
    http_status_code: 429,
    http_headers: { "Retry-After": "5", Cookie: "x", broken: 5 },
  };
  const outcome = await over("tool_pre_invoke", () => ({ continue_processing: false, violation }), { name: "t" });
  expect(outcome.violation).toEqual({
    plugin: "p",
    reason: "r",
    description: "d",
    code: "C",
    details: { a: 1 },
    mcpErrorCode: -32000,
    httpStatusCode: 429,
    httpHeaders: { "Retry-After": "5" },
  });
});

it("cuts long texts of a violation between characters", async () => {
  const violation = { reason: "é".repeat(1_999) + "😀".repeat(10), code: "x".repeat(1_000) };
  const outcome = await over("tool_pre_invoke", () => ({ continue_processing: false, violation }), { name: "t" });
  expect(outcome.violation?.reason).toBe("é".repeat(1_999));
  expect(outcome.violation?.code).toHaveLength(200);
});
