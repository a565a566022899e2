import { isFramingError, type Message, type NotificationMessage, readMessage } from "@berth/jsonrpc-framing";
import type { ServedRevisions } from "../era.js";
import { RegistrationError } from "../errors.js";
import { isObject } from "../json.js";
import { createSchemaCompiler, isSchemaError, type SchemaCompiler, type SchemaLimits } from "../json-schema/index.js";
import { openTasks } from "../tasks/open-tasks.js";
import {
  type Answer,
  type EncodedAnswer,
  encode,
  isOfNotification,
  type JsonRpcResponse,
  toResponse,
  wireError,
} from "./answer.js";
import { type Connection, type ConnectionOptions, ConnectionState } from "./connection.js";
import { createCore, principalIdNeeded } from "./core.js";
import { createDispatcher } from "./dispatch.js";
import { instrument } from "./instrument.js";
import { observe } from "./observers.js";
import type { McpServerOptions } from "./options.js";
import { PresentedConnection } from "./presented-connection.js";
import { hasRegistrations, readRegistry } from "./registry.js";
import { createRequestStateCodec } from "./request-state.js";
import type { SchemaSource } from "./schema-source.js";
import { type ChangedKind, requireChangedKind, tellListChanged, tellUpdated } from "./subscriptions.js";
import { warnOfNobody } from "./warnings.js";

/** What comes with each message. */
export interface HandleContext<P> {
  /** Who asks, as your authentication says; never read from a message. */
  readonly principal: P;
  /** One of this server's, from `openConnection`. */
  readonly connection: Connection;
  /** Cancels the request: no answer then. */
  readonly signal?: AbortSignal | undefined;
  /** The headers that came with the message, by lower-case name. Absent where the transport has none. */
  readonly headers?: ((name: string) => string | undefined) | undefined;
}

/** An MCP server without a transport: messages in, answers out. */
export interface McpServer<P> extends AsyncDisposable {
  /**
   * Answers one message, as `JSON.parse` made it: it is frozen in the doing. Resolves with undefined for notifications, for answers of the client, and for requests that
   * were cancelled. Messages of one connection may be under way together.
   *
   * Rejects with what a handler threw, itself, after the observers were told: unless it is an `RpcError`, or an error of a tool that
   * `isSafeError` knows. The caller owes the client an answer then (-32603, without the error's text).
   */
  handle(message: unknown, context: HandleContext<P>): Promise<JsonRpcResponse | undefined>;
  /**
   * As `handle`, from a checked message to the encoded answer. Lists are sent as they were encoded once. On a connection that is closed a request rejects;
   * anything else resolves with undefined.
   */
  handleMessage(message: Message, context: HandleContext<P>): Promise<EncodedAnswer | undefined>;
  /** One for each client, from its first message to its end. Holds the handshake of older revisions, and what is under way. */
  openConnection(options: ConnectionOptions): Connection;
  /**
   * Tells the clients that what they may see of a list has changed, for instance because the authorizer answers otherwise now.
   * @throws {TypeError} for a kind that does not exist.
   */
  listChanged(kind: ChangedKind): void;
  /** Tells the clients that subscribed to this resource that it has other contents now. */
  resourceUpdated(uri: string): void;
  /** What tells this principal from others, for transports that keep something for one. */
  principalId(principal: P): string;
  /** Which are served, newest first. */
  readonly revisions: ServedRevisions;
  /** How often an observer, the instrumentation or `isSafeError` threw. */
  readonly observerFailures: number;
  /**
   * Ends what the server itself keeps going: tasks that run are aborted and stored as failed, no more are taken, and each connection is closed with a
   * farewell. Stores and transports stay the caller's. May be called again.
   */
  close(): Promise<void>;
}

/**
 * A server for every current revision of MCP, as registered: nothing can be added later.
 * @throws {RegistrationError} with everything that is wrong in the options.
 */
export function createMcpServer<P = string, const I extends readonly SchemaSource[] = readonly SchemaSource[]>(
  options: McpServerOptions<P, I>,
): McpServer<P> {
  const compiler = createCompiler(options?.schemaLimits); // no options at all: readRegistry tells
  const registry = readRegistry(options, compiler);
  if (options.authorize === undefined && hasRegistrations(registry)) warnOfNobody();
  const { limits } = registry;
  const now = options.now ?? Date.now;
  const codec = createRequestStateCodec({
    keys: options.requestState?.keys ?? [],
    lifetimeMs: limits.requestStateMs,
    maxBytes: limits.maxRequestStateBytes,
    now,
  });
  const observation = observe(options.observers ?? [], options.onObserverError);
  const tasks = openTasks(options, registry, observation, now);
  const core = createCore(options, registry, compiler, codec, tasks, observation);
  const plain = createDispatcher(core, observation, now);
  const { instrumentation } = options;
  const dispatcher = instrumentation === undefined ? plain : instrument(plain, instrumentation, observation.failed);
  const connections = new Map<Connection, ConnectionState>();

  const stateOf = (connection: Connection): ConnectionState => {
    const state = connections.get(connection);
    if (state === undefined) throw notOpen();
    return state;
  };
  // Not async itself: each such layer is a turn of the microtask queue for every request.
  const answer = <T>(
    message: Message,
    { principal, connection, signal, headers }: HandleContext<P>,
    finish: (answer: Answer) => T,
  ): Promise<T | undefined> => {
    const state = connections.get(connection);
    if (state === undefined) {
      // What else comes late has nothing left to cancel or to answer.
      return message.kind === "request" ? Promise.reject(notOpen()) : Promise.resolve(undefined);
    }
    if (message.kind === "request") {
      if (typeof principal !== "string" && options.principalId === undefined) {
        return Promise.reject(principalIdNeeded());
      }
      return dispatcher.answer(message, { principal, connection: state, signal, headers }, finish);
    }
    if (message.kind === "notification") notified(state, message);
    else if (message.kind === "response") state.answered(message.id, message.result);
    else state.refused(message.id, message.error);
    return Promise.resolve(undefined);
  };
  const forget = (closed: Connection): void => void connections.delete(closed);
  let closing: Promise<void> | undefined;
  const endAll = async (): Promise<void> => {
    await tasks?.close();
    // After the tasks: who listens to one hears how it ended.
    await Promise.all([...connections.keys()].map((connection) => connection.close({ farewell: true })));
  };
  const close = (): Promise<void> => {
    closing ??= endAll();
    return closing;
  };
  return {
    async handle(value, context) {
      const message = tryRead(value, stateOf(context.connection));
      if (message === undefined) return undefined;
      return "kind" in message ? answer(message, context, toResponse) : toResponse(message);
    },
    handleMessage: (message, context) => answer(message, context, encode),
    openConnection(to) {
      const state = new ConnectionState(to, limits, options.scheduler);
      const connection = new PresentedConnection(state, forget);
      connections.set(connection, state);
      return connection;
    },
    listChanged(kind) {
      requireChangedKind(kind);
      for (const state of connections.values()) tellListChanged(state, kind);
    },
    resourceUpdated(uri) {
      for (const state of connections.values()) tellUpdated(state, uri);
    },
    principalId: core.principalId,
    revisions: core.revisions,
    get observerFailures() {
      return observation.failures;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function notOpen(): Error {
  return new Error("the connection is closed, or is none of this server");
}

function createCompiler(limits: SchemaLimits | undefined): SchemaCompiler {
  try {
    return createSchemaCompiler(limits);
  } catch (error) {
    if (!isSchemaError(error)) throw error;
    throw new RegistrationError([{ where: "schemaLimits", message: error.message }]);
  }
}

/** The message, or the answer to what is none, if one is due. */
function tryRead(value: unknown, state: ConnectionState): Message | Answer | undefined {
  try {
    return readMessage(value, { params: "object" });
  } catch (error) {
    if (!isFramingError(error)) throw error;
    if (isOfNotification(error)) return undefined;
    return {
      id: error.requestId ?? (state.era === "modern" ? undefined : null),
      error: wireError(error.wireCode, error.message),
    };
  }
}

/** Notifications are never answered, whatever is wrong with them. */
function notified(state: ConnectionState, { method, params }: NotificationMessage): void {
  if (method !== "notifications/cancelled" || !isObject(params)) return;
  const { requestId, reason } = params;
  if (typeof requestId !== "string" && typeof requestId !== "number") return;
  const request = state.inFlight.get(requestId);
  if (request === undefined || request.method === "initialize") return;
  request.cancel(
    new Error(typeof reason === "string" ? `cancelled: ${reason.slice(0, 500)}` : "cancelled by the client"),
  );
}
