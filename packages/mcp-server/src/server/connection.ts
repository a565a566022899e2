import {
  createPendingCalls,
  type JsonObject,
  type JsonValue,
  type PendingCalls,
  type RequestId,
  type Scheduler,
  type WireError,
  wireErrors,
} from "@berth/jsonrpc-framing";
import type { Era } from "../era.js";
import { RpcError } from "../errors.js";
import type { LegacyRevision } from "../revisions.js";
import type { RequestContext } from "./context.js";
import type { LogLevel } from "./definitions.js";
import type { ServerLimits } from "./limits.js";

/** How one message of the server's own is to be sent. */
export interface Delivery {
  /** It may be left out when the client does not keep up: progress, a log message, a change. */
  readonly droppable: boolean;
  /** The request in the course of which it is sent; undefined for what belongs to none. Decides the stream, where a client has several. */
  readonly request: RequestId | undefined;
}

/** What `openConnection` accepts. */
export interface ConnectionOptions {
  /** Sends one JSON-RPC message of the server's own to the client: a notification, or a question. Must not throw. */
  readonly send: (message: Uint8Array, delivery: Delivery) => void;
  /** A handler lets go of the stream of its request (`RequestScope.releaseStream`). Absent: nothing to let go of. */
  readonly releaseStream?: ((request: RequestId) => void) | undefined;
  /** What `initialize` may settle on, newest first, where the transport has not all that the server serves. */
  readonly revisions?: readonly LegacyRevision[] | undefined;
}

/** One client, as far as the server remembers it: its handshake, its requests under way, its subscriptions. */
export interface Connection extends AsyncDisposable {
  /** Of the last request. An answer to bytes that name no request has `id: null`, in the modern era no `id`. */
  readonly era: Era | undefined;
  /** What `initialize` settled on; undefined before it, and for clients of 2026-07-28. */
  readonly revision: LegacyRevision | undefined;
  /**
   * Asks a legacy client whether it is there. Rejects with an `RpcError` when it does not answer in time, is of 2026-07-28, where servers ask nothing, or when
   * the connection is closed.
   */
  ping(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** Questions to the client that wait for its answer. */
  readonly waitingForClient: number;
  /** The client sends nothing more: what it was asked fails, and so does what it would be asked. What it asked goes on. */
  endInput(): void;
  /**
   * Aborts all that is under way and forgets everything. With `farewell` open listen requests get their end (a cancellation notice, then the
   * answer) first. May be called again.
   */
  close(options?: { readonly farewell?: boolean | undefined }): Promise<void>;
}

/** A `subscriptions/listen` that is open. */
export interface Listen {
  wants(kind: string, uri?: string): boolean;
  /** Ends it; with an answer when `farewell`. */
  end(farewell: boolean): void;
}

/** What a legacy client is asked. */
export interface ClientQuestion {
  readonly method: string;
  readonly params?: JsonObject | undefined;
  /** In the course of which; undefined for a question of the server's own. */
  readonly request: RequestId | undefined;
}

const nothing: JsonObject = Object.freeze({});
const noRequests: ReadonlyMap<RequestId, RequestContext<unknown>> = new Map();
const noListens: ReadonlyMap<RequestId, Listen> = new Map();
const noAddresses: ReadonlySet<string> = new Set();

/** What the server knows of a connection. Over HTTP there may be one for each request, or ten thousand idle ones: what is rarely needed is made on first use. */
export class ConnectionState {
  revision: LegacyRevision | undefined;
  clientCapabilities: JsonObject = nothing;
  logLevel: LogLevel = "info";
  /** The era of the last request, for answers to bytes that say none. */
  era: Era | undefined;
  closed = false;
  inputEnded = false;
  readonly #options: ConnectionOptions;
  readonly #limits: ServerLimits;
  readonly #scheduler: Scheduler | undefined;
  #inFlight: Map<RequestId, RequestContext<unknown>> | undefined;
  #listens: Map<RequestId, Listen> | undefined;
  #subscribed: Set<string> | undefined;
  #subscribedBytes = 0;
  #calls: PendingCalls<JsonValue> | undefined;
  #lastId = 0;

  constructor(options: ConnectionOptions, limits: ServerLimits, scheduler: Scheduler | undefined) {
    this.#options = options;
    this.#limits = limits;
    this.#scheduler = scheduler;
  }

  get inFlight(): ReadonlyMap<RequestId, RequestContext<unknown>> {
    return this.#inFlight ?? noRequests;
  }

  begin(request: RequestContext<unknown>): void {
    this.#inFlight ??= new Map();
    this.#inFlight.set(request.id, request);
  }

  end({ id }: RequestContext<unknown>): void {
    this.#inFlight?.delete(id);
  }

  get listens(): ReadonlyMap<RequestId, Listen> {
    return this.#listens ?? noListens;
  }

  addListen(id: RequestId, listen: Listen): void {
    this.#listens ??= new Map();
    this.#listens.set(id, listen);
  }

  /** False when there is none any more. */
  removeListen(id: RequestId): boolean {
    return this.#listens?.delete(id) === true;
  }

  /** Legacy: resources whose updates it wants. */
  get subscribed(): ReadonlySet<string> {
    return this.#subscribed ?? noAddresses;
  }

  /** @throws {RpcError} -32602 for one more than there may be. */
  subscribe(uri: string): void {
    if (this.subscribed.has(uri)) return;
    const { maxSubscriptions, maxSubscriptionBytes } = this.#limits;
    const bytes = this.#subscribedBytes + Buffer.byteLength(uri);
    if (this.subscribed.size >= maxSubscriptions) throw tooMany(`${maxSubscriptions} resources are subscribed`);
    if (bytes > maxSubscriptionBytes) throw tooMany(`the subscribed addresses are over ${maxSubscriptionBytes} bytes`);
    this.#subscribed ??= new Set();
    this.#subscribed.add(uri);
    this.#subscribedBytes = bytes;
  }

  unsubscribe(uri: string): void {
    if (this.#subscribed?.delete(uri) === true) this.#subscribedBytes -= Buffer.byteLength(uri);
  }

  get waitingForClient(): number {
    return this.#calls?.size ?? 0;
  }

  /** What `initialize` may settle on; undefined: all that is served. */
  get revisions(): readonly LegacyRevision[] | undefined {
    return this.#options.revisions;
  }

  notify(method: string, params: JsonObject | undefined, delivery: Delivery): void {
    if (this.closed) return;
    const message = params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };
    this.#options.send(Buffer.from(JSON.stringify(message)), delivery);
  }

  releaseStream(request: RequestId): void {
    if (!this.closed) this.#options.releaseStream?.(request);
  }

  /** @throws {RpcError} -32603 when so many questions more may not wait for the client. */
  requireRoom(questions: number): void {
    const limit = this.#limits.maxClientRequests;
    if (this.waitingForClient + questions <= limit) return;
    throw new RpcError(wireErrors.internal, `${limit} questions wait for the client`, { data: { limit } });
  }

  /** Asks a legacy client, in the course of `request`. Rejects with an RpcError that may be the answer to it. */
  async ask(question: ClientQuestion, signal: AbortSignal | undefined): Promise<JsonValue> {
    if (this.closed) throw new RpcError(wireErrors.internal, "the connection is closed");
    if (this.inputEnded) throw inputEnded();
    this.requireRoom(1);
    const { method, params, request } = question;
    this.#calls ??= createPendingCalls<JsonValue>({
      timeoutMs: this.#limits.clientAnswerMs,
      maxTotalMs: this.#limits.clientAnswerMs,
      maxCalls: this.#limits.maxClientRequests,
      scheduler: this.#scheduler,
    });
    const calls = this.#calls;
    const id = ++this.#lastId;
    const answer = calls.register(id, { signal });
    const delivery: Delivery = { droppable: false, request };
    const isAsked = calls.has(id);
    if (isAsked) this.#options.send(Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method, params })), delivery);
    try {
      return await answer;
    } catch (error) {
      if (error instanceof RpcError) throw error;
      // What was never asked must not be cancelled (MCP 2025-11-25, Cancellation § Behavior requirements).
      if (isAsked) this.notify("notifications/cancelled", { requestId: id, reason: "no longer needed" }, delivery);
      signal?.throwIfAborted();
      throw new RpcError(wireErrors.internal, `no answer from the client to ${method}`, { cause: error });
    }
  }

  answered(id: RequestId, result: JsonValue): void {
    this.#calls?.settle(id, result);
  }

  refused(id: RequestId | undefined, { code, message }: WireError): void {
    if (id === undefined) return;
    this.#calls?.reject(id, new RpcError(wireErrors.internal, `the client refused: ${message}`, { data: { code } }));
  }

  endInput(): void {
    this.inputEnded = true;
    this.#calls?.close(inputEnded());
  }

  close(farewell: boolean): void {
    if (this.closed) return;
    if (this.#listens !== undefined) for (const listen of [...this.#listens.values()]) listen.end(farewell);
    this.closed = true;
    this.#subscribed = undefined;
    if (this.inFlight.size === 0 && this.#calls === undefined) return; // an error costs a walk of the stack
    const reason = new Error("the connection was closed");
    for (const request of this.inFlight.values()) request.interrupt(reason);
    this.#calls?.close(reason);
  }
}

function inputEnded(): RpcError {
  return new RpcError(wireErrors.internal, "the client has ended its input: it cannot answer");
}

function tooMany(message: string): RpcError {
  return new RpcError(wireErrors.invalidParams, message);
}
