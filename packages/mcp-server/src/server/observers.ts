import type { JsonObject, RequestId } from "@berth/jsonrpc-framing";
import type { ProtocolRevision } from "../revisions.js";
import { attempt, tell } from "../tell.js";
import type { TraceContext } from "./trace.js";

/**
 * How a request ended. `tool-error`: answered with `isError`. `denied`: the authorizer said no (the client was told "unknown"). `protocol-error`:
 * answered with an error. `cancelled`: by the client or its going away. `failure`: something threw that nobody had declared safe.
 */
export type Outcome = "success" | "tool-error" | "denied" | "protocol-error" | "cancelled" | "failure";

/** What an observer is told of one request, once it has ended. */
export interface RequestEvent<P> {
  /** From 1, in the order of arrival. */
  readonly sequence: number;
  readonly method: string;
  /** Tool, prompt or resource address, where one was named. */
  readonly name: string | undefined;
  readonly principal: P;
  readonly requestId: RequestId;
  readonly revision: ProtocolRevision;
  /** Frozen. Transient: whoever keeps them has to take out what is secret first. */
  readonly params: JsonObject;
  /** W3C Trace Context of the request, from `params._meta` or the HTTP headers; undefined when it has no valid one. */
  readonly trace: TraceContext | undefined;
  readonly outcome: Outcome;
  /** Of the error that the client got. */
  readonly errorCode: number | undefined;
  /** For `failure`: what the handler or the authorizer threw, itself. Transient, and never sent to a client: it may hold what is secret. */
  readonly failure?: unknown;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
  /**
   * Set for a call that became a task, which is told twice, with one `sequence`: when it was answered (`created`), and when the task has ended, with its
   * outcome (`ended`; then `startedAt` is when the task was created). An end by expiry or by the closing of the server is `cancelled`.
   */
  readonly task?: { readonly taskId: string; readonly stage: "created" | "ended" } | undefined;
}

/** Told of each request exactly once, and of the end of each task. What it throws, or rejects with, is counted and changes no answer. */
export type Observer<P> = (event: RequestEvent<P>) => void;

/** All observers of a server, and how often they failed. */
export interface Observation<P> {
  readonly failures: number;
  /** Whether nobody observes: then no event is made. */
  readonly isIdle: boolean;
  emit(event: RequestEvent<P>): void;
  /** Counts what somebody who only looks on has thrown, and tells the fallback. */
  failed(error: unknown): void;
}

export function observe<P>(
  observers: readonly Observer<P>[],
  onError: ((error: unknown) => void) | undefined,
): Observation<P> {
  let failures = 0;
  const failed = (error: unknown): void => {
    failures += 1;
    tell(onError, error); // when the fallback fails as well, the count is all that is left
  };
  return {
    isIdle: observers.length === 0,
    get failures() {
      return failures;
    },
    failed,
    emit(event) {
      for (const observer of observers) attempt(() => observer(event), failed);
    },
  };
}
