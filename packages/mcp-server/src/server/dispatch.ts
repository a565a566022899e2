import { type RequestId, type RequestMessage, wireErrors } from "@berth/jsonrpc-framing";
import { decideEra, modernMetaKeys } from "../era.js";
import { RpcError } from "../errors.js";
import { deepFreeze, isObject } from "../json.js";
import { type Answer, type JsonRpcError, toWireError, wireError } from "./answer.js";
import { readCapabilities } from "./capabilities.js";
import type { ConnectionState } from "./connection.js";
import { RequestContext, toldOf } from "./context.js";
import type { Core, Reply } from "./core.js";
import { InputRequired } from "./input.js";
import { isLongId, longId, maxIdLength } from "./limits.js";
import { type Method, methodsOf } from "./methods.js";
import type { Observation, Outcome, RequestEvent } from "./observers.js";
import { inputRequired } from "./rounds.js";
import { requireLogLevel } from "./scope.js";
import { requireStandardHeaders, requireVersionHeader } from "./standard-headers.js";
import { createAuthorizerWarning } from "./warnings.js";

/** Answers requests: era, method, then what the method does (its parameters, permission, schema, handler), then one event. */
export interface Dispatcher<P> {
  /**
   * Undefined for a request that was cancelled. Rejects with what a handler threw, when that is no answer, or with what `finish` threw over its
   * result: that is a fault of the handler too, and the event says so.
   */
  answer<T>(
    request: RequestMessage,
    context: DispatchContext<P>,
    finish: (answer: Answer) => T,
  ): Promise<T | undefined>;
}

/** Who asks, and by which way. */
export interface DispatchContext<P> {
  readonly principal: P;
  readonly connection: ConnectionState;
  readonly signal: AbortSignal | undefined;
  readonly headers: ((name: string) => string | undefined) | undefined;
  /** Told of the end, beside the observers. */
  readonly ended?: ((event: RequestEvent<P>) => void) | undefined;
}

/** What an event needs that the context does not hold: first what is known at the start, then what is at the end. */
interface Beginning<P> {
  readonly startedAt: number;
  readonly ended: ((event: RequestEvent<P>) => void) | undefined;
}
interface Ending {
  readonly outcome: Outcome;
  readonly failure?: unknown;
  readonly errorCode?: number | undefined;
}

/** One machine over the life of a request, hence its length. */
export function createDispatcher<P>(core: Core<P>, observation: Observation<P>, now: () => number): Dispatcher<P> {
  const warnOfAuthorizer = createAuthorizerWarning();
  const methods = methodsOf(core);
  const served = core.revisions;
  let sequence = 0;

  const findMethod = (context: RequestContext<P>): Method<P> => {
    const { connection, method, meta, headers } = context;
    const metaVersion = meta[modernMetaKeys.protocolVersion];
    const capabilities = meta[modernMetaKeys.clientCapabilities];
    const initialized = connection.revision !== undefined;
    if (headers !== undefined) requireVersionHeader(headers, metaVersion);
    const decided = decideEra(
      { method, metaVersion, hasClientCapabilities: isObject(capabilities), initialized },
      served,
    );
    context.era = decided.era;
    connection.era = decided.era;
    if (decided.era === "modern") {
      context.revision = decided.revision;
      context.clientCapabilities = readCapabilities(capabilities, core.registry.limits.maxCapabilityBytes);
    } else {
      context.revision = connection.revision ?? context.revision;
      context.clientCapabilities = connection.clientCapabilities;
    }
    const found = methods.get(method);
    if (found === undefined || (found.era !== "both" && found.era !== decided.era)) {
      throw new RpcError(wireErrors.methodNotFound, `Method not found: ${method.slice(0, 200)}`);
    }
    if (decided.era === "modern") {
      if (headers !== undefined) requireStandardHeaders(headers, method, context.params);
      requireLogLevel(meta);
    }
    return found;
  };
  const run = async (context: RequestContext<P>): Promise<Reply> => {
    let reply: Reply | undefined;
    try {
      reply = await findMethod(context).run(core, context);
    } catch (error) {
      if (!(error instanceof InputRequired)) throw error;
    }
    if (context.askedWrongly !== undefined && context.task === undefined) throw context.askedWrongly; // of a task it is its end
    // Also when the handler swallowed what ended it: it had no answers to go on with.
    if (context.pendingInput !== undefined) return inputRequired(core, context);
    if (reply === undefined) throw new Error("a method ended without a reply");
    return reply;
  };
  const end = (context: RequestContext<P>, begun: Beginning<P>, { outcome, errorCode, failure }: Ending): void => {
    const { startedAt, ended } = begun;
    const { authorizerFailure } = context;
    if (authorizerFailure !== undefined) warnOfAuthorizer(authorizerFailure.error);
    if (observation.isIdle && ended === undefined) return;
    const durationMs = now() - startedAt;
    const task = context.task && ({ taskId: context.task.taskId, stage: "created" } as const);
    const thrown = outcome === "failure" ? (failure ?? authorizerFailure?.error) : undefined;
    const event = { ...toldOf(context), outcome, errorCode, failure: thrown, startedAt, durationMs, task };
    observation.emit(event);
    ended?.(event);
  };

  /** Holds the context and not the message, of which a request that stays open lets go. */
  const serve = async <T>(
    context: RequestContext<P>,
    begun: Beginning<P>,
    signal: AbortSignal | undefined,
    finish: (answer: Answer) => T,
  ): Promise<T | undefined> => {
    const { id, connection } = context;
    const fault = idFault(id, connection);
    if (fault !== undefined) {
      end(context, begun, { outcome: "protocol-error", errorCode: fault.code });
      return finish({ id, error: fault });
    }
    connection.begin(context);
    const onAbort = (): void => context.cancel(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    let ending: Ending = { outcome: "failure", errorCode: wireErrors.internal };
    try {
      const reply = context.cancelled ? {} : await run(context);
      const answer = context.cancelled ? undefined : finish({ id, reply });
      // How a task ends is told when it does.
      const outcome = context.task === undefined ? context.outcome : undefined;
      ending = { outcome: context.cancelled ? "cancelled" : (outcome ?? "success") };
      return answer;
    } catch (thrown) {
      if (context.interrupted) {
        ending = { outcome: "cancelled" };
        return undefined;
      }
      const error = toWireError(thrown);
      if (error === undefined) {
        ending = { ...ending, failure: thrown };
        throw thrown;
      }
      ending = { outcome: context.outcome ?? "protocol-error", errorCode: error.code };
      return finish({ id, error });
    } finally {
      context.finish();
      connection.end(context);
      signal?.removeEventListener("abort", onAbort);
      end(context, begun, ending);
    }
  };

  return {
    answer({ id, method, params }, { principal, connection, signal, headers, ended }, finish) {
      const begun: Beginning<P> = { startedAt: now(), ended };
      const given = isObject(params) ? deepFreeze(params) : undefined;
      const context = new RequestContext(id, method, given, principal, connection);
      context.sequence = ++sequence;
      context.headers = headers;
      return serve(context, begun, signal, finish);
    },
  };
}

function idFault(id: RequestId, { inFlight }: ConnectionState): JsonRpcError | undefined {
  if (isLongId(id)) return wireError(wireErrors.invalidRequest, longId, { limit: maxIdLength });
  if (inFlight.has(id)) return wireError(wireErrors.invalidRequest, "a request with this id is under way");
  return undefined;
}
