import { inspect } from "node:util";
import { expect, it } from "vitest";
import type {
  Credential,
  DelegatedToken,
  HookDecision,
  HookOutcome,
  InboundToken,
  PluginCall,
  PluginHost,
  RawCredentials,
} from "../../src/executor.js";
import { extensions, hostOf, keeping, requestOf, runOver, type TestPlugin } from "./hosts.js";

const TOKEN = "eyJhbGciOi.very-secret.token-0001";
const OTHER = "another+secret/token=0002";

const inbound = (part: Partial<InboundToken> = {}): InboundToken => ({
  token: TOKEN,
  kind: "jwt",
  sourceHeader: "Authorization",
  of: "user",
  ...part,
});
const delegated = (part: Partial<DelegatedToken> = {}): DelegatedToken => ({
  token: TOKEN,
  outboundHeader: "Authorization",
  audience: "https://a",
  keyAudience: part.audience ?? "https://a",
  scopes: ["read"],
  subjectId: "alice",
  mode: "on_behalf_of_user",
  ...part,
});
const both: RawCredentials = { inbound: [inbound()], delegated: [delegated()] };

const identity = {
  hook: "identity_resolve",
  payload: { raw_token: TOKEN, headers: { Authorization: `Bearer ${TOKEN}` } },
};
const delegate = {
  hook: "token_delegate",
  payload: { target_name: "tool", target_audience: "https://a", bearer_token: TOKEN },
};
const READS = { identity_resolve: "read_inbound_credentials", token_delegate: "read_delegated_tokens" } as const;

async function given(
  request: typeof identity | typeof delegate,
  capabilities: readonly string[],
  credentials: RawCredentials | undefined,
): Promise<{ readonly calls: readonly PluginCall[]; readonly outcome: HookOutcome }> {
  const calls: PluginCall[] = [];
  const plugin: TestPlugin = { name: "p", hooks: [request.hook], capabilities, does: keeping(calls) };
  return { calls, outcome: await runOver([plugin], { ...request, credentials }) };
}

function tokenOf(credential: Credential | undefined): string | undefined {
  if (credential === undefined) return undefined;
  return "inbound" in credential ? credential.inbound.token : credential.delegated.token;
}

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

it("shows placeholders instead of tokens in payload, context and extensions of every hook", async () => {
  const calls: PluginCall[] = [];
  const does = keeping(calls);
  const capabilities = ["read_inbound_credentials", "read_headers"];
  const given_ = {
    credentials: both,
    extensions: { ...extensions, custom: { note: `got ${TOKEN}` } },
    globalContext: { requestId: "r-1", user: TOKEN, state: { [TOKEN]: [TOKEN] }, metadata: {} },
  };
  await runOver([{ name: "p", hooks: ["identity_resolve"], capabilities, does }], { ...identity, ...given_ });
  await runOver([{ name: "p", capabilities, does }], {
    ...given_,
    payload: { name: "t", args: { deep: [`x${TOKEN}y`] } },
  });
  const shown = calls.map(({ credential: _credential, ...rest }) => inspect(rest, { depth: 20 }));
  expect(shown.join()).not.toContain(TOKEN);
  expect(calls[0]?.payload).toEqual({ raw_token: "**********", headers: { Authorization: "Bearer **********" } });
  expect(calls[1]?.payload).toEqual({ name: "t", args: { deep: ["x**********y"] } });
});

it("keeps the caller's extensions when a placeholder comes back unchanged", async () => {
  const given_ = { http: { requestHeaders: { "X-User": TOKEN }, responseHeaders: {} } };
  const outcome = await runOver(
    [{ name: "p", capabilities: ["write_headers"], does: ({ extensions: view }) => ({ modified_extensions: view }) }],
    { credentials: both, extensions: given_ },
  );
  expect(outcome.extensions).toBe(given_);
});

/** Everything that a host gives out, as people and programs print it. */
function allPrints(values: readonly unknown[]): string {
  const options = { depth: 50, showHidden: true, getters: true, maxArrayLength: null, maxStringLength: null };
  return values
    .flatMap((value) => [inspect(value, options), JSON.stringify(value) ?? "", errorPrint(value)])
    .join("\n");
}

function errorPrint(value: unknown): string {
  return value instanceof Error ? `${value.message}\n${value.stack}\n${errorPrint(value.cause)}` : String(value);
}

const leaks: readonly { readonly name: string; readonly does: TestPlugin["does"] }[] = [
  {
    name: "throws it",
    does: (call) => {
      throw new Error(`bad token ${tokenOf(call.credential)}`);
    },
  },
  {
    name: "throws it as a member",
    does: (call) => {
      throw Object.assign(new TypeError("x"), { code: tokenOf(call.credential), token: tokenOf(call.credential) });
    },
  },
  { name: "throws it as a text", does: (call) => Promise.reject(tokenOf(call.credential)) },
  {
    name: "denies with it",
    does: (call) => ({
      continue_processing: false,
      violation: {
        reason: `no ${tokenOf(call.credential)}`,
        code: tokenOf(call.credential),
        description: tokenOf(call.credential),
        details: { [tokenOf(call.credential) ?? ""]: [tokenOf(call.credential)] },
        http_headers: { "X-T": tokenOf(call.credential) },
      },
    }),
  },
  {
    name: "rejects with it",
    does: (call) => ({ modified_payload: { rejected: true, reject_reason: `bad ${tokenOf(call.credential)}` } }),
  },
  {
    name: "throws it where the message is cut",
    does: (call) => {
      throw new Error(`${"x".repeat(1_990)}${tokenOf(call.credential)}`);
    },
  },
  {
    name: "denies with it where the reason is cut",
    does: (call) => ({
      continue_processing: false,
      violation: { reason: `${"x".repeat(1_990)}${tokenOf(call.credential)}` },
    }),
  },
  { name: "returns it as metadata", does: (call) => ({ metadata: { seen: tokenOf(call.credential) } }) },
  { name: "returns it as a name", does: (call) => ({ metadata: { [tokenOf(call.credential) ?? ""]: 1 } }) },
  {
    name: "returns it in claims",
    does: (call) => ({ modified_payload: { raw_claims: { t: [tokenOf(call.credential)] } } }),
  },
  { name: "returns it as a header", does: (call) => ({ http_headers: { "X-Token": tokenOf(call.credential) } }) },
  {
    name: "notes it for others",
    does: (call) => ({ context: { global_context: { state: { t: tokenOf(call.credential) } } } }),
  },
  { name: "notes it for itself", does: (call) => ({ context: { state: { t: `${tokenOf(call.credential)}` } } }) },
  {
    name: "returns it in custom",
    does: (call) => ({ modified_extensions: { custom: { t: tokenOf(call.credential) } } }),
  },
];

it.each(leaks)("lets no token out when the plugin $name", async ({ does }) => {
  const given_: unknown[] = [];
  const record = (decision: HookDecision): void => void given_.push(decision);
  const onLog = (plugin: string, line: string): void => void given_.push(plugin, line);
  const capabilities = ["read_inbound_credentials"];
  const host: PluginHost = hostOf([{ name: "p", hooks: ["identity_resolve"], capabilities, does }], { record, onLog });
  const outcome = await host.run(requestOf({ ...identity, credentials: both }));
  given_.push(outcome, host, host.list(), await host.health());
  await host.close();
  expect(outcome.allowed).toBe(false);
  expect(allPrints(given_)).not.toContain(TOKEN.slice(0, 8));
});

it("prints no token of a call, however it is printed or copied", async () => {
  const { calls } = await given(identity, ["read_inbound_credentials"], both);
  const delegatedCalls = (await given(delegate, ["read_delegated_tokens"], both)).calls;
  expect(tokenOf(calls[0]?.credential)).toBe(TOKEN);
  const values = [...calls, ...delegatedCalls, { ...calls[0]?.credential }, structuredClone(calls[0]?.credential)];
  expect(allPrints(values)).not.toContain(TOKEN);
});

it("tells no token in the lines of a plugin that had it", async () => {
  const lines: string[] = [];
  const { createPluginHost } = await import("../../src/executor.js");
  const { entryOf, settings } = await import("./hosts.js");
  const host = createPluginHost({
    config: {
      plugins: [entryOf({ name: "p", hooks: ["identity_resolve"], capabilities: ["read_inbound_credentials"] })],
      settings,
      warnings: [],
    },
    kinds: [
      {
        name: "test",
        check: () => [],
        open: async (_entry, { onLog }) => ({
          evidence: undefined,
          call: async (call) => {
            onLog(`DEBUG token=${tokenOf(call.credential)}`);
            throw new Error("no");
          },
          health: async () => ({ state: "failed", message: `still has ${TOKEN}` }),
          close: async () => undefined,
          [Symbol.asyncDispose]: async () => undefined,
        }),
      },
    ],
    onLog: (_plugin, line) => void lines.push(line),
  });
  await host.run(requestOf({ ...identity, credentials: both }));
  expect(lines).toEqual(["DEBUG token=**********"]);
  expect((await host.health())[0]?.message).toBe("still has **********");
  await host.close();
});

it("hides a short token where it stands alone, and leaves other words as they are", async () => {
  const credentials: RawCredentials = { inbound: [inbound({ token: "abc" })], delegated: [] };
  const calls: PluginCall[] = [];
  const payload = { headers: { Authorization: "Bearer abc", "X-Alphabet": "abcdef" } };
  await runOver(
    [{ name: "p", hooks: ["identity_resolve"], capabilities: ["read_inbound_credentials"], does: keeping(calls) }],
    {
      hook: "identity_resolve",
      payload,
      credentials,
    },
  );
  expect(tokenOf(calls[0]?.credential)).toBe("abc");
  expect(calls[0]?.payload["headers"]).toEqual({ Authorization: "Bearer **********", "X-Alphabet": "abcdef" });
});

it("refuses to take more tokens than it can search for", async () => {
  const many = Array.from({ length: 257 }, () => inbound());
  await expect(given(identity, [], { inbound: many, delegated: [] })).rejects.toMatchObject({ code: "OPTION_INVALID" });
});
