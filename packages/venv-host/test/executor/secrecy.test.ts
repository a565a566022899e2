import { inspect } from "node:util";
import { expect, it } from "vitest";
import type { HookDecision, PluginCall, PluginHost, RawCredentials } from "../../src/executor.js";
import { createPluginHost } from "../../src/executor.js";
import { entryOf, extensions, hostOf, keeping, requestOf, runOver, settings, type TestPlugin } from "./hosts.js";
import { both, delegate, given, identity, inbound, TOKEN, tokenOf } from "./tokens.js";

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
