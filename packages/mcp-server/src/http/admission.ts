import type { JsonObject } from "@berth/jsonrpc-framing";

/** What is known of an HTTP request before its body is read. */
export interface RequestHead {
  /** Upper case. */
  readonly method: string;
  /** Without query. */
  readonly path: string;
  /** By lower-case name; undefined when absent. Doubled headers are joined as HTTP says (RFC 9110 § 5.3). */
  header(name: string): string | undefined;
}

/** Who sent a request, or why it is refused. */
export type Admission<P> =
  | { readonly principal: P }
  | {
      /** 401: nobody known. 403: known, but not enough (RFC 6750 § 3.1). */
      readonly status: 401 | 403;
      /** The `WWW-Authenticate` header. */
      readonly challenge: string;
      /** For the client; no secret and nothing of what it sent. */
      readonly message: string;
    };

/** Says who sent each request. Asked before anything of the request is read. What it throws is a fault of the server: 500, no details. */
export interface Admitter<P> {
  admit(head: RequestHead, signal: AbortSignal): Admission<P> | Promise<Admission<P>>;
  /** Documents that anybody may get, by absolute path: protected-resource metadata (RFC 9728). */
  readonly documents?: ReadonlyMap<string, JsonObject> | undefined;
}
