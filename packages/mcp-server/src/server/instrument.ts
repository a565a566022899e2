import type { RequestId, RequestMessage } from "@berth/jsonrpc-framing";
import { metaOf } from "../request-meta.js";
import { attempt } from "../tell.js";
import type { Answer } from "./answer.js";
import type { DispatchContext, Dispatcher } from "./dispatch.js";
import type { RequestEvent } from "./observers.js";
import { readTrace, type TraceContext } from "./trace.js";

/** A request that begins. Nothing of it has been checked: method and name are what the client wrote. */
export interface RequestStart<P> {
  readonly method: string;
  readonly requestId: RequestId;
  readonly principal: P;
  readonly trace: TraceContext | undefined;
  /** Whether the transport has headers, as HTTP does. */
  readonly overHttp: boolean;
}

/** What an instrumentation does with one request. */
export interface InstrumentedRequest<P> {
  /**
   * Calls `work` at once, once, and returns what it returns, or a promise made of it: the place to set what the handler finds in an `AsyncLocalStorage`. Nobody waits
   * for it.
   */
  within<T>(work: () => T): T;
  /** Called once, after all observers. */
  end(event: RequestEvent<P>): void;
}

/** Runs around each request, unlike an observer that is told afterwards: for tracing. What it throws, or rejects with, is counted and changes no answer. */
export interface Instrumentation<P> {
  /** Undefined: nothing is done with this request. */
  begin(start: RequestStart<P>): InstrumentedRequest<P> | undefined;
}

/** A dispatcher whose requests run within an instrumentation, however that fails. */
export function instrument<P>(
  dispatcher: Dispatcher<P>,
  instrumentation: Instrumentation<P>,
  failed: (error: unknown) => void,
): Dispatcher<P> {
  return {
    answer<T>(request: RequestMessage, context: DispatchContext<P>, finish: (answer: Answer) => T) {
      const begun = attempt(() => instrumentation.begin(startOf(request, context)), failed);
      if (begun === undefined) return dispatcher.answer(request, context, finish);
      const ended = endedOf(begun, failed);
      let answer: Promise<T | undefined> | undefined;
      const work = (): Promise<T | undefined> => {
        answer ??= dispatcher.answer(request, { ...context, ended }, finish);
        return answer;
      };
      attempt(() => faultOf(begun.within(work), answer), failed);
      // Whatever it returned, and also when it never called: the request is answered once, by what the dispatcher says.
      return work();
    },
  };
}

/** A function of its own, so that what waits for the end of a request does not hold its message. */
function endedOf<P>(begun: InstrumentedRequest<P>, failed: (error: unknown) => void): DispatchContext<P>["ended"] {
  return (event) => void attempt(() => begun.end(event), failed);
}

/** Rejects with what `within` made to fail; what the handler threw is not its fault, however it was passed on. */
async function faultOf(returned: unknown, answer: Promise<unknown> | undefined): Promise<void> {
  if (returned === answer) return;
  try {
    await returned;
  } catch (error) {
    const isOfHandler = await answer?.then(
      () => false,
      (thrown) => thrown === error,
    );
    if (isOfHandler !== true) throw error;
  }
}

function startOf<P>({ id, method, params }: RequestMessage, context: DispatchContext<P>): RequestStart<P> {
  return {
    method,
    requestId: id,
    principal: context.principal,
    trace: readTrace(metaOf(params), context.headers),
    overHttp: context.headers !== undefined,
  };
}
