import {
  isFramingError,
  type Message,
  parseMessage,
  type RequestId,
  type WireError,
  wireErrors,
} from "@berth/jsonrpc-framing";
import type { Asker } from "./ask-hook.js";
import type { HostMethods } from "./methods.js";
import { hostErrors, wireErrorOf } from "./wire-error.js";

/** One JSON-RPC answer. */
export interface Answer {
  readonly jsonrpc: "2.0";
  readonly id: RequestId | null;
  readonly result?: object | undefined;
  readonly error?: WireError | undefined;
}

/** A frame as a message, or the answer that says why it is none. */
export function readFrame(frame: Uint8Array): Message | Answer {
  try {
    return parseMessage(frame, { protoKeys: "refuse", duplicateKeys: "refuse", params: "object" });
  } catch (error) {
    if (!isFramingError(error)) throw error;
    return errorAnswer(error.requestId ?? null, {
      code: error.wireCode,
      message: error.message,
      data: { code: error.code },
    });
  }
}

/** Runs a request. Never rejects: a fault of ours is told to `onFault`, and to the client only as that. */
export async function answerRequest(
  methods: HostMethods,
  asker: Asker,
  request: Extract<Message, { readonly kind: "request" }>,
  options: { readonly signal: AbortSignal; readonly onFault: (fault: unknown) => void },
): Promise<Answer> {
  const { id, method, params } = request;
  const run = methods.find(method);
  if (run === undefined) {
    const known = "plugins/list, plugins/health, hooks/invoke";
    return errorAnswer(id, {
      code: wireErrors.methodNotFound,
      message: `there is no method of this name; there are ${known}`,
    });
  }
  try {
    return { jsonrpc: "2.0", id, result: await run(asker, params, options.signal) };
  } catch (error) {
    const told = wireErrorOf(error);
    if (told !== undefined) return errorAnswer(id, told);
    if (options.signal.aborted) return errorAnswer(id, { code: hostErrors.closing, message: "this program ends" });
    options.onFault(error);
    return errorAnswer(id, { code: wireErrors.internal, message: "internal error" });
  }
}

export function errorAnswer(id: RequestId | null, error: WireError): Answer {
  return { jsonrpc: "2.0", id, error };
}
