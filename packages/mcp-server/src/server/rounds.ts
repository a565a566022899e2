import { type JsonObject, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import { deepFreeze, isObject, toJson } from "../json.js";
import type { RequestContext } from "./context.js";
import { type Core, complete } from "./core.js";

/**
 * Takes the answers that came with a retry (MCP 2026-07-28, MRTR). They count only for questions that a valid state names: without one the
 * client is asked again.
 * @throws {RpcError} -32602 for a state that was not signed for this principal and request, or has expired.
 */
export function openState<P>(core: Core<P>, context: RequestContext<P>): void {
  // The last step before the handler: one that was cancelled meanwhile is not begun.
  if (context.interrupted) context.signal.throwIfAborted();
  const { requestState, inputResponses } = context.params;
  if (context.era !== "modern" || requestState === undefined) return;
  const state = core.codec.open(requestState, core.binding(context));
  if (inputResponses !== undefined && !isObject(inputResponses)) {
    throw new RpcError(wireErrors.invalidParams, "inputResponses is not an object");
  }
  const given = inputResponses ?? {};
  const answered = state.asked.filter((key) => Object.hasOwn(given, key)).map((key) => [key, given[key] ?? null]);
  context.answers = deepFreeze({ ...state.answers, ...Object.fromEntries(answered) });
}

/** The answer that asks for input, with a state that names what was asked and keeps what was answered. */
export function inputRequired<P>(core: Core<P>, context: RequestContext<P>): JsonObject {
  const { pendingInput = {}, answers } = context;
  const requestState = core.codec.sign({ asked: Object.keys(pendingInput), answers }, core.binding(context));
  const inputRequests = toJson(pendingInput);
  return complete(core, context, { resultType: "input_required", inputRequests, requestState });
}
