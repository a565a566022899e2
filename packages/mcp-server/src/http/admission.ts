import type { JsonObject } from "@berth/jsonrpc-framing";

/** What is known of an HTTP request before its body is read. */
export interface RequestHead {
  /** Upper case. */
  readonly method: string;
  /** Without query. */
  readonly path: string;
  /**
   * By lower-case name; undefined when absent. Doubled headers are joined as HTTP says (RFC 9110 § 5.3). Of those that can have one value only, `Content-Type` and
   * `Mcp-…`, a doubled one is a text that no header has, where Node's `http` tells it.
   */
  header(name: string): string | undefined;
}

/** Why a request is not let in. */
export interface AdmissionRefusal {
  /** 400: two credentials at once. 401: nobody known. 403: known, but not enough (RFC 6750 § 3.1). 503: it cannot be said at the moment. */
  readonly status: 400 | 401 | 403 | 503;
  /** The `WWW-Authenticate` header; absent for 503. */
  readonly challenge?: string | undefined;
  /** The `Retry-After` header, in whole seconds; for 503 only. */
  readonly retryAfterSeconds?: number | undefined;
  /** For the client; no secret and nothing of what it sent. */
  readonly message: string;
}

/** Who sent a request, or why it is refused. */
export type Admission<P> = { readonly principal: P } | AdmissionRefusal;

/** Says who sent each request. Asked before anything of the request is read. What it throws is a fault of the server: 500, no details. */
export interface Admitter<P> {
  admit(head: RequestHead, signal: AbortSignal): Admission<P> | Promise<Admission<P>>;
  /** Documents that anybody may get, by absolute path: protected-resource metadata (RFC 9728). */
  readonly documents?: ReadonlyMap<string, JsonObject> | undefined;
}
