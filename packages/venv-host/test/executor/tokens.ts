import type {
  Credential,
  DelegatedToken,
  HookOutcome,
  InboundToken,
  PluginCall,
  RawCredentials,
} from "../../src/executor.js";
import { keeping, runOver, type TestPlugin } from "./hosts.js";

/** The token that must be found nowhere. */
export const TOKEN: string = "eyJhbGciOi.very-secret.token-0001";
export const OTHER: string = "another+secret/token=0002";

export const inbound = (part: Partial<InboundToken> = {}): InboundToken => ({
  token: TOKEN,
  kind: "jwt",
  sourceHeader: "Authorization",
  of: "user",
  ...part,
});
export const delegated = (part: Partial<DelegatedToken> = {}): DelegatedToken => ({
  token: TOKEN,
  outboundHeader: "Authorization",
  audience: "https://a",
  keyAudience: part.audience ?? "https://a",
  scopes: ["read"],
  subjectId: "alice",
  mode: "on_behalf_of_user",
  ...part,
});
export const both: RawCredentials = { inbound: [inbound()], delegated: [delegated()] };

export const identity = {
  hook: "identity_resolve",
  payload: { raw_token: TOKEN, headers: { Authorization: `Bearer ${TOKEN}` } },
};
export const delegate = {
  hook: "token_delegate",
  payload: { target_name: "tool", target_audience: "https://a", bearer_token: TOKEN },
};
export const READS = { identity_resolve: "read_inbound_credentials", token_delegate: "read_delegated_tokens" } as const;

/** Runs one plugin with the credentials, and keeps what it was given. */
export async function given(
  request: typeof identity | typeof delegate,
  capabilities: readonly string[],
  credentials: RawCredentials | undefined,
): Promise<{ readonly calls: readonly PluginCall[]; readonly outcome: HookOutcome }> {
  const calls: PluginCall[] = [];
  const plugin: TestPlugin = { name: "p", hooks: [request.hook], capabilities, does: keeping(calls) };
  return { calls, outcome: await runOver([plugin], { ...request, credentials }) };
}

export function tokenOf(credential: Credential | undefined): string | undefined {
  if (credential === undefined) return undefined;
  return "inbound" in credential ? credential.inbound.token : credential.delegated.token;
}
