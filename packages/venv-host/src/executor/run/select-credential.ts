import { inspect } from "node:util";
import type { Credential, DelegatedToken, InboundToken, RawCredentials, TokenKind } from "../credentials.js";
import { PluginHostError } from "../errors.js";
import type { JsonObject } from "../json.js";

const MAX_TOKEN_CHARS = 65_536;
const MAX_TOKENS = 256;

/** Earlier is better; what is not listed comes last. */
const INBOUND_ORDER: readonly string[] = ["user", "client", "caller_workload"];
const MODE_ORDER: readonly string[] = ["on_behalf_of_user", "as_this_workload"];

/** The token is read by name only: not enumerable, not own, so that no copy, JSON or inspection of a call has it. */
class HeldToken {
  readonly #token: string;
  constructor(token: string) {
    this.#token = token;
  }
  get token(): string {
    return this.#token;
  }
  /** An inspection that shows getters would call that of the token. */
  [inspect.custom](): object {
    return { ...this };
  }
}

class HeldInbound extends HeldToken {
  readonly kind: TokenKind;
  readonly sourceHeader: string;
  constructor({ token, kind, sourceHeader }: InboundToken) {
    super(token);
    this.kind = kind;
    this.sourceHeader = sourceHeader;
  }
}

class HeldDelegated extends HeldToken {
  readonly outboundHeader: string;
  readonly audience: string;
  readonly scopes: readonly string[];
  constructor({ token, outboundHeader, audience, scopes }: DelegatedToken) {
    super(token);
    this.outboundHeader = outboundHeader;
    this.audience = audience;
    this.scopes = Object.freeze([...scopes]);
  }
}

/**
 * What a plugin is given for this hook; undefined when its capability and the hook do not fit each other.
 * @throws {PluginHostError} `CREDENTIAL_ERROR` when it is to have one and there is none. No message names a token.
 */
export function selectCredential(
  hook: string,
  capabilities: ReadonlySet<string>,
  payload: JsonObject,
  credentials: RawCredentials | undefined,
): Credential | undefined {
  if (hook === "identity_resolve" && capabilities.has("read_inbound_credentials")) {
    const token = usable(bestInbound(given(credentials).inbound));
    return Object.freeze({ inbound: Object.freeze(new HeldInbound(token)) });
  }
  if (hook === "token_delegate" && capabilities.has("read_delegated_tokens")) {
    const token = usable(bestDelegated(given(credentials).delegated, payload["target_audience"]));
    return Object.freeze({ delegated: Object.freeze(new HeldDelegated(token)) });
  }
  return undefined;
}

/** All tokens of a request. @throws {PluginHostError} `OPTION_INVALID` over 256 of them. */
export function tokensOf(credentials: RawCredentials | undefined): readonly string[] {
  const tokens = [...(credentials?.inbound ?? []), ...(credentials?.delegated ?? [])].map(({ token }) => token);
  if (tokens.length > MAX_TOKENS) throw new PluginHostError("OPTION_INVALID", `over ${MAX_TOKENS} tokens were given`);
  return tokens.filter((token) => typeof token === "string");
}

function given(credentials: RawCredentials | undefined): RawCredentials {
  if (credentials !== undefined) return credentials;
  throw new PluginHostError("CREDENTIAL_ERROR", "the plugin may read credentials and the request has none");
}

function usable<T extends { readonly token: string }>(found: T | undefined): T {
  if (found === undefined) throw new PluginHostError("CREDENTIAL_ERROR", "no token of the request fits this call");
  if (typeof found.token !== "string" || found.token.trim() === "") {
    throw new PluginHostError("CREDENTIAL_ERROR", "the token that fits this call is blank");
  }
  if (found.token.length > MAX_TOKEN_CHARS) {
    throw new PluginHostError(
      "CREDENTIAL_ERROR",
      `the token that fits this call is over ${MAX_TOKEN_CHARS} characters`,
    );
  }
  return found;
}

function bestInbound(tokens: readonly InboundToken[]): InboundToken | undefined {
  return [...tokens].sort((one, other) => rank(INBOUND_ORDER, one.of) - rank(INBOUND_ORDER, other.of))[0];
}

/** A token under a key of another audience was stored wrongly and is given to nobody. */
function bestDelegated(tokens: readonly DelegatedToken[], wanted: unknown): DelegatedToken | undefined {
  const isUnscoped = typeof wanted !== "string" || wanted === "";
  const fitting = tokens.filter(
    ({ audience, keyAudience }) => keyAudience === audience && (isUnscoped || audience === wanted),
  );
  return fitting.sort(compareDelegated)[0];
}

function compareDelegated(one: DelegatedToken, other: DelegatedToken): number {
  return (
    rank(MODE_ORDER, one.mode) - rank(MODE_ORDER, other.mode) ||
    compareText(one.subjectId, other.subjectId) ||
    compareText(one.scopes.join("\n"), other.scopes.join("\n"))
  );
}

function rank(order: readonly string[], value: string): number {
  const at = order.indexOf(value);
  return at === -1 ? order.length : at;
}

/** By code units, not by the machine's language: the choice is the same everywhere. */
function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
