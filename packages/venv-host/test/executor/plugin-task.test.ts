import { expect, it } from "vitest";
import { type HookRequest, type PluginCall, type RawCredentials, writePluginCall } from "../../src/executor.js";
import { keeping, runOver } from "./hosts.js";

const TOKEN = "eyJhbGciOi.very-secret.token-0001";
const credentials: RawCredentials = {
  inbound: [{ token: TOKEN, kind: "txn_token", sourceHeader: "Txn-Token", of: "user" }],
  delegated: [
    {
      token: TOKEN,
      outboundHeader: "Authorization",
      audience: "https://a",
      keyAudience: "https://a",
      scopes: ["read", "write"],
      subjectId: "alice",
      mode: "on_behalf_of_user",
    },
  ],
};

async function taskOf(request: Partial<HookRequest>, capabilities: readonly string[] = []): Promise<unknown> {
  const calls: PluginCall[] = [];
  const hook = request.hook ?? "tool_pre_invoke";
  await runOver([{ name: "p", hooks: [hook], capabilities, does: keeping(calls) }], request);
  return calls[0] === undefined ? undefined : writePluginCall(calls[0]);
}

it("writes the fields that a worker requires, and none for what is absent", async () => {
  expect(await taskOf({})).toEqual({
    hook_type: "tool_pre_invoke",
    payload: { name: "add", args: { a: 1 } },
    context: { state: {}, global_context: { request_id: "r-1", state: {}, metadata: {} }, metadata: {} },
  });
});

it("writes every field of the context under its name on the wire, and extensions beside it", async () => {
  const globalContext = {
    requestId: "r-9",
    user: { email: "a@b" },
    userContext: { a: 1 },
    tenantId: "t",
    serverId: "s",
    contentType: "text/plain",
    state: { s: 1 },
    metadata: { m: 1 },
  };
  expect(await taskOf({ globalContext, extensions: { custom: { c: 1 } } })).toMatchObject({
    context: {
      global_context: {
        request_id: "r-9",
        user: { email: "a@b" },
        user_context: { a: 1 },
        tenant_id: "t",
        server_id: "s",
        content_type: "text/plain",
        state: { s: 1 },
        metadata: { m: 1 },
      },
    },
    extensions: { custom: { c: 1 } },
  });
});

it("writes exactly one of the two credentials, by the names that a worker reads", async () => {
  const identity = { hook: "identity_resolve", payload: {}, credentials };
  const inbound = await taskOf(identity, ["read_inbound_credentials"]);
  expect(inbound).toHaveProperty("payload.raw_token", "**********");
  // No member more: a worker takes what it is given.
  expect(inbound).toHaveProperty("credential", {
    inbound: { token: TOKEN, source_header: "Txn-Token", kind: "txn_token", headers: { "Txn-Token": TOKEN } },
  });
  const delegate = { hook: "token_delegate", payload: { target_name: "t" }, credentials };
  expect(await taskOf(delegate, ["read_delegated_tokens"])).toHaveProperty("credential", {
    delegated: { token: TOKEN, outbound_header: "Authorization", audience: "https://a", scopes: ["read", "write"] },
  });
  expect(await taskOf(identity)).not.toHaveProperty("credential");
});
