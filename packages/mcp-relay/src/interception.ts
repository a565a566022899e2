import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";

/** Requests that an interceptor is asked about. */
export type InterceptedMethod = "tools/call" | "prompts/get" | "resources/read";

/** A request of the client that was routed, and whose name the catalog and the pins let through. */
export interface InterceptedCall {
  readonly server: string;
  readonly method: InterceptedMethod;
  /** The server's own name of the tool or prompt, or the address of the resource. */
  readonly name: string;
}

/** Looks into calls on their way, and may change or refuse them. Its functions must not throw: one that does refuses the call. */
export interface Interceptor {
  /** Asked once for each such request. Undefined: this call passes as it is, and costs nothing more. */
  begin(call: InterceptedCall): CallInterception | undefined;
}

/**
 * What is done with one call. Only calls with an interception wait for it; whatever else passes between the client and its servers
 * meanwhile keeps its order. The signal aborts when the client cancels the call, when the session ends, and after `limits.interceptMs`;
 * nobody waits any more then.
 */
export interface CallInterception {
  /** Copied into the call's events, so that a log can join them with entries of its own. */
  readonly mark?: string | undefined;
  /** Before the request leaves, and before its intent is recorded. */
  before?(request: InterceptedRequest, wait: InterceptionWait): Promise<RequestVerdict>;
  /**
   * Before a result reaches the client; the server's errors, and answers of the relay's own, are not shown. A call that became a task is
   * asked again about what `tasks/result` gives.
   */
  after?(result: JsonObject, wait: InterceptionWait): Promise<ResultVerdict>;
}

/** Ends a wait. */
export interface InterceptionWait {
  readonly signal: AbortSignal;
}

/** What of a request is looked into. Numbers are as JavaScript reads them; those that are not changed leave as they were written. */
export interface InterceptedRequest {
  readonly name: string;
  /** Empty for resources. */
  readonly arguments: JsonObject;
}

/** What is done with a request. A name that is changed is looked up and compared with the pins again, on the same server. */
export type RequestVerdict =
  | { readonly kind: "pass" }
  | { readonly kind: "rewrite"; readonly name?: string | undefined; readonly arguments?: JsonObject | undefined }
  | InterceptionRefusal;

/** What is done with a result. */
export type ResultVerdict =
  | { readonly kind: "pass" }
  | { readonly kind: "rewrite"; readonly result: JsonObject }
  | InterceptionRefusal;

/** Answers the call with an error in place of what was looked into. All of it reaches the client. */
export interface InterceptionRefusal {
  readonly kind: "refuse";
  /** Default -31103. */
  readonly code?: number | undefined;
  /** Stable code, `data.reason` of the error. */
  readonly reason: string;
  readonly message: string;
  /** Further members of `data`; `reason` and `server` are the relay's. */
  readonly data?: Readonly<Record<string, JsonValue | undefined>> | undefined;
}
