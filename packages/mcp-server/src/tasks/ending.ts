import { type JsonObject, wireErrors } from "@berth/jsonrpc-framing";
import { internalError, type JsonRpcError, toWireError, wireError } from "../server/answer.js";
import type { Outcome } from "../server/observers.js";
import type { TaskStep } from "./state.js";

/** How a task ends: what is stored, and what the observers are told. */
export interface TaskEnd {
  readonly step: TaskStep;
  readonly outcome: Outcome;
  /** Of the error that the client finds. */
  readonly errorCode?: number | undefined;
  /** Set for a fault that the client is not told of. */
  readonly unexpected?: { readonly error: unknown } | undefined;
}

/** The end of a handler that returned. The result is copied: the handler may go on changing it. */
export function endOfResult(result: JsonObject, maxBytes: number): TaskEnd {
  try {
    const text = JSON.stringify(result);
    if (Buffer.byteLength(text) > maxBytes) {
      return failedWith(wireError(wireErrors.internal, `the result is over ${maxBytes} bytes`, { limit: maxBytes }));
    }
    const outcome = result["isError"] === true ? "tool-error" : "success";
    return { step: { kind: "complete", result: JSON.parse(text) }, outcome };
  } catch (error) {
    return endOfThrow(error, maxBytes);
  }
}

/** The end of a handler that threw: as the call would have been answered (Task Execution Errors). */
export function endOfThrow(thrown: unknown, maxBytes: number): TaskEnd {
  try {
    const answer = toWireError(thrown);
    if (answer === undefined) return endOfFault(thrown);
    const text = JSON.stringify(answer);
    if (Buffer.byteLength(text) <= maxBytes) return failedWith(JSON.parse(text));
    return failedWith(wireError(answer.code, answer.message.slice(0, 500), { limit: maxBytes }));
  } catch (error) {
    return endOfFault(error); // what it carries is no JSON, or it does not even let itself be looked at
  }
}

function endOfFault(error: unknown): TaskEnd {
  return { ...failedWith(internalError), outcome: "failure", unexpected: { error } };
}

/** The end of a task whose client went away before it knew of the task. */
export const endOfAbort: TaskEnd = {
  step: { kind: "cancel", statusMessage: "The call was aborted" },
  outcome: "cancelled",
};

/** For an end that the store did not take. */
export const notStored: TaskEnd = {
  ...failedWith(wireError(wireErrors.internal, "what came of the task could not be stored")),
  outcome: "failure",
};

function failedWith(error: JsonRpcError): TaskEnd {
  const step: TaskStep = { kind: "fail", error, statusMessage: `The call failed: ${error.message}` };
  return { step, outcome: "protocol-error", errorCode: error.code };
}
