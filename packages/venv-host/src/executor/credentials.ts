/** How a raw token was found on an inbound request. */
export type TokenKind = "jwt" | "opaque" | "spiffe_jwt" | "ucan" | "txn_token";

/** A token of the inbound request. Its bytes go to a capable plugin's task line and nowhere else. */
export interface InboundToken {
  readonly token: string;
  readonly kind: TokenKind;
  /** The header it came in, for instance `Authorization`. */
  readonly sourceHeader: string;
  readonly of: "user" | "client" | "caller_workload";
}

/** A token that was made for a target. */
export interface DelegatedToken {
  readonly token: string;
  readonly outboundHeader: string;
  readonly audience: string;
  readonly scopes: readonly string[];
  readonly subjectId: string;
  readonly mode: "on_behalf_of_user" | "as_this_workload" | (string & {});
  /** The audience under which it is kept; differs from its own when it was stored wrongly, and is then not given out. */
  readonly keyAudience: string;
}

/** Raw credentials of one request, held by the host. */
export interface RawCredentials {
  readonly inbound: readonly InboundToken[];
  readonly delegated: readonly DelegatedToken[];
}

/** What one call is given: exactly one of the two. `token` is read by name: it is no own property, so that copies and JSON have none. */
export type Credential =
  | { readonly inbound: Pick<InboundToken, "token" | "kind" | "sourceHeader"> }
  | { readonly delegated: Pick<DelegatedToken, "token" | "outboundHeader" | "audience" | "scopes"> };
