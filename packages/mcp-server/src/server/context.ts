import type { JsonObject, RequestId } from "@berth/jsonrpc-framing";
import type { Era } from "../era.js";
import type { ResultError } from "../errors.js";
import { deepFreeze } from "../json.js";
import { metaOf } from "../request-meta.js";
import type { ProtocolRevision } from "../revisions.js";
import type { TaskHandle } from "../tasks/live.js";
import type { ConnectionState } from "./connection.js";
import type { PendingInput } from "./input.js";
import type { Outcome, RequestEvent } from "./observers.js";
import { readTrace, type TraceContext } from "./trace.js";

const empty: JsonObject = Object.freeze({});

/** One request on its way: what is known of it, and whether it was cancelled. */
export class RequestContext<P> {
  readonly id: RequestId;
  readonly method: string;
  meta: JsonObject;
  readonly principal: P;
  readonly connection: ConnectionState;
  era: Era = "legacy";
  revision: ProtocolRevision = "2025-11-25";
  clientCapabilities: JsonObject = empty;
  /** What was called, for observers. */
  name: string | undefined;
  /** Set where the answer alone does not tell it. */
  outcome: Outcome | undefined;
  /** What the authorizer threw. */
  authorizerFailure: { readonly error: unknown } | undefined;
  /** The handler asked what cannot be asked: its fault, also when it did not wait for an answer. */
  askedWrongly: ResultError | undefined;
  /** Set in 2026-07-28 when the handler needs answers that did not come with the request. */
  pendingInput: PendingInput | undefined;
  /** Answers that came with the request, or in rounds before it. */
  answers: JsonObject = empty;
  /** Of the HTTP request that it came with. */
  headers: ((name: string) => string | undefined) | undefined;
  /** Its place among all requests, from 1. */
  sequence = 0;
  /** Set when the call has become a task: the answer is out or on its way, and the handler goes on. */
  task: TaskHandle | undefined;
  /** Makes it one. Set where the handler decides. */
  startTask: (() => Promise<void>) | undefined;
  lastProgress: number = Number.NEGATIVE_INFINITY;
  interrupted = false;
  #finished = false;
  #cancelled = false;
  #reason: unknown;
  #controller: AbortController | undefined;
  #ending: AbortController | undefined;
  #trace: TraceContext | null | undefined;
  #params: JsonObject | string;

  constructor(
    id: RequestId,
    method: string,
    params: JsonObject | undefined,
    principal: P,
    connection: ConnectionState,
  ) {
    this.id = id;
    this.method = method;
    this.#params = params ?? empty;
    this.meta = metaOf(params);
    this.principal = principal;
    this.connection = connection;
  }

  get params(): JsonObject {
    const params = this.#params;
    if (typeof params !== "string") return params;
    const made: JsonObject = JSON.parse(params);
    return deepFreeze(made);
  }

  /**
   * For a request that stays open: lets go of its message, of which only its trace and `text`, its parameters as JSON, are left. As text they take a tenth, and are
   * asked for once, at the end.
   */
  keepAsText(text: string): void {
    if (this.#trace === undefined) this.#trace = readTrace(this.meta, this.headers) ?? null;
    this.#params = text;
    this.meta = empty;
    this.clientCapabilities = empty;
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  /** Made when it is first asked for: most handlers never do. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.interrupted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Whether it was answered. A handler may go on. */
  get finished(): boolean {
    return this.#finished;
  }

  /** Aborted when it is answered or cancelled: then nobody waits for what the client was asked in its course. */
  get ending(): AbortSignal {
    if (this.#ending === undefined) {
      this.#ending = new AbortController();
      if (this.interrupted) this.#ending.abort(this.#reason);
      else if (this.#finished) this.#ending.abort(callEnded());
    }
    return this.#ending.signal;
  }

  /** Read when it is first asked for. */
  get trace(): TraceContext | undefined {
    if (this.#trace === undefined) this.#trace = readTrace(this.meta, this.headers) ?? null;
    return this.#trace ?? undefined;
  }

  finish(): void {
    this.#finished = true;
    this.#ending?.abort(callEnded());
  }

  /** By the client, or by whoever handed the message in: nobody wants the answer. */
  cancel(reason: unknown): void {
    this.#cancelled = true;
    this.interrupt(reason);
  }

  /** The connection is going down: handlers should end, but what they still answer is an answer. */
  interrupt(reason: unknown): void {
    if (this.interrupted) return;
    this.interrupted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#ending?.abort(reason);
  }
}

function callEnded(): Error {
  return new Error("the call has ended");
}

/** What every event of a request tells of it, at its end as at that of its task. */
export function toldOf<P>(
  context: RequestContext<P>,
): Pick<RequestEvent<P>, "sequence" | "method" | "name" | "principal" | "requestId" | "revision" | "params" | "trace"> {
  const { sequence, method, name, principal, id, revision, params, trace } = context;
  return { sequence, method, name, principal, requestId: id, revision, params, trace };
}
