import { inspect } from "node:util";
import { expect, it } from "vitest";
import type { PluginCall } from "../../src/executor.js";
import { keeping, runOver } from "./hosts.js";
import { both, delegate, delegated, given, identity, inbound, OTHER, READS, TOKEN, tokenOf } from "./tokens.js";

it.each([
  { request: identity, capabilities: ["read_inbound_credentials"], has: "inbound" },
  { request: delegate, capabilities: ["read_delegated_tokens"], has: "delegated" },
  { request: identity, capabilities: ["read_delegated_tokens"], has: undefined },
  { request: delegate, capabilities: ["read_inbound_credentials"], has: undefined },
  { request: identity, capabilities: ["read_headers", "read_subject"], has: undefined },
  { request: identity, capabilities: [], has: undefined },
])("gives $request.hook with $capabilities: $has", async ({ request, capabilities, has }) => {
  const { calls, outcome } = await given(request, capabilities, both);
  expect(outcome.allowed).toBe(true);
  expect(calls[0]?.credential === undefined ? undefined : Object.keys(calls[0].credential)).toEqual(has && [has]);
  expect(tokenOf(calls[0]?.credential)).toBe(has && TOKEN);
});

it("gives no other hook a credential, and no other plugin of the same hook", async () => {
  const capabilities = ["read_inbound_credentials", "read_delegated_tokens"];
  const calls: PluginCall[] = [];
  await runOver([{ name: "p", capabilities, does: keeping(calls) }], { credentials: both });
  await runOver(
    [
      { name: "may", hooks: ["identity_resolve"], capabilities, does: keeping(calls) },
      { name: "may not", hooks: ["identity_resolve"], does: keeping(calls) },
    ],
    { ...identity, credentials: both },
  );
  expect(calls.map(({ credential }) => tokenOf(credential))).toEqual([undefined, TOKEN, undefined]);
});

it.each([
  { name: "no credentials", request: identity, credentials: undefined },
  { name: "no inbound token", request: identity, credentials: { inbound: [], delegated: [delegated()] } },
  {
    name: "a blank inbound token",
    request: identity,
    credentials: { inbound: [inbound({ token: " \t" })], delegated: [] },
  },
  {
    name: "an empty one that is preferred",
    request: identity,
    credentials: { inbound: [inbound({ of: "client" }), inbound({ token: "" })], delegated: [] },
  },
  {
    name: "an endless one",
    request: identity,
    credentials: { inbound: [inbound({ token: "x".repeat(65_537) })], delegated: [] },
  },
  { name: "no credentials", request: delegate, credentials: undefined },
  {
    name: "a token for another audience",
    request: delegate,
    credentials: { inbound: [], delegated: [delegated({ audience: "https://b" })] },
  },
  {
    name: "a token kept under another audience",
    request: delegate,
    credentials: { inbound: [], delegated: [delegated({ keyAudience: "https://b" })] },
  },
  { name: "a blank token", request: delegate, credentials: { inbound: [], delegated: [delegated({ token: "  " })] } },
])(
  "does not call a plugin that may have a token when there is $name, in $request.hook",
  async ({ request, credentials }) => {
    const hook = request === identity ? ("identity_resolve" as const) : ("token_delegate" as const);
    const { calls, outcome } = await given(request, [READS[hook]], credentials);
    expect(calls).toEqual([]);
    expect(outcome.violation).toMatchObject({ code: "plugin_error", details: { error: "CREDENTIAL_ERROR" } });
    expect(inspect(outcome, { depth: 20 })).not.toContain(TOKEN);
  },
);

it.each([
  { name: "the user's first", of: ["caller_workload", "client", "user"] as const, taken: 2 },
  { name: "then the client's", of: ["caller_workload", "client"] as const, taken: 1 },
  { name: "then the workload's", of: ["caller_workload"] as const, taken: 0 },
])("prefers of the inbound tokens $name", async ({ of, taken }) => {
  const tokens = of.map((one, at) => inbound({ of: one, token: `${TOKEN}-${at}` }));
  const { calls } = await given(identity, ["read_inbound_credentials"], { inbound: tokens, delegated: [] });
  expect(tokenOf(calls[0]?.credential)).toBe(`${TOKEN}-${taken}`);
});

it.each([
  { name: "any kind when no other is there", tokens: [inbound({ of: "else" as "user" })], taken: TOKEN },
  {
    name: "the first of equals",
    tokens: [inbound({ token: `${TOKEN}-a` }), inbound({ token: `${TOKEN}-b` })],
    taken: `${TOKEN}-a`,
  },
])("takes of the inbound tokens $name", async ({ tokens, taken }) => {
  const { calls } = await given(identity, ["read_inbound_credentials"], { inbound: tokens, delegated: [] });
  expect(tokenOf(calls[0]?.credential)).toBe(taken);
});

it.each(["jwt", "opaque", "spiffe_jwt", "ucan", "txn_token"] as const)(
  "tells the kind %s and the header beside the token",
  async (kind) => {
    const tokens = [inbound({ kind, sourceHeader: "X-Token" })];
    const { calls } = await given(identity, ["read_inbound_credentials"], { inbound: tokens, delegated: [] });
    expect(calls[0]?.credential).toMatchObject({ inbound: { kind, sourceHeader: "X-Token" } });
  },
);

it.each([
  {
    name: "the audience first",
    tokens: [delegated({ audience: "https://b", token: OTHER }), delegated({ mode: "zzz" })],
  },
  { name: "then the user's", tokens: [delegated({ mode: "as_this_workload", token: OTHER }), delegated()] },
  {
    name: "then the workload's own",
    tokens: [delegated({ mode: "other", token: OTHER }), delegated({ mode: "as_this_workload" })],
  },
  { name: "then the subject in order", tokens: [delegated({ subjectId: "bob", token: OTHER }), delegated()] },
  { name: "then the scopes in order", tokens: [delegated({ scopes: ["write"], token: OTHER }), delegated()] },
])("chooses of the delegated tokens by $name, whatever their order", async ({ tokens }) => {
  for (const some of [tokens, tokens.toReversed()]) {
    const { calls } = await given(delegate, ["read_delegated_tokens"], { inbound: [], delegated: some });
    expect(tokenOf(calls[0]?.credential)).toBe(TOKEN);
    expect(calls[0]?.credential).toMatchObject({
      delegated: { outboundHeader: "Authorization", audience: "https://a", scopes: ["read"] },
    });
  }
});

it("takes any audience when the payload names none", async () => {
  const request = { hook: "token_delegate", payload: { target_name: "tool" } };
  const tokens = [delegated({ audience: "https://z" })];
  const { calls } = await given(Object.assign({}, delegate, request), ["read_delegated_tokens"], {
    inbound: [],
    delegated: tokens,
  });
  expect(tokenOf(calls[0]?.credential)).toBe(TOKEN);
});

it("refuses to take more tokens than it can search for", async () => {
  const many = Array.from({ length: 257 }, () => inbound());
  await expect(given(identity, [], { inbound: many, delegated: [] })).rejects.toMatchObject({ code: "OPTION_INVALID" });
});
