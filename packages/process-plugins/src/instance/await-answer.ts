import type { JsonObject } from "@berth/jsonrpc-framing";
import type { CallEnd } from "../pipe/call-table.js";
import { pluginFault } from "../pipe/plugin-fault.js";
import { readAnswerError, readAnswerResult } from "../pipe/plugin-frame.js";

/** One call for which somebody waits. */
export interface AwaitedCall {
  readonly plugin: string;
  readonly method: string;
  readonly signal?: AbortSignal | undefined;
  /** Sends it; gives back what cancels it. */
  readonly send: (onEnd: (end: CallEnd) => void) => () => void;
}

/**
 * The result of a call.
 * @throws {ProcessPluginError} `PLUGIN_ANSWERED_ERROR`, `PLUGIN_TIMEOUT`, what `send` threw, why it ended. Also the signal's reason.
 */
export async function awaitAnswer({ plugin, method, signal, send }: AwaitedCall): Promise<JsonObject> {
  signal?.throwIfAborted();
  const waits: { cancel?: () => void } = {};
  const onAbort = (): void => waits.cancel?.();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await new Promise<JsonObject>((resolve, reject) => {
      waits.cancel = send((end) => {
        const result = end.kind === "answered" ? readAnswerResult(end.bytes, end.envelope) : undefined;
        if (result === undefined) reject(causeOf(end, plugin, method, signal));
        else resolve(result);
      });
    });
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/** An error answer's text is an attacker's: it is in `wire`, not in the message. */
function causeOf(end: CallEnd, plugin: string, method: string, signal: AbortSignal | undefined): unknown {
  if (end.kind === "failed") return end.cause;
  if (end.kind === "timeout") return pluginFault(plugin, "PLUGIN_TIMEOUT", `did not answer ${method} in time`);
  if (end.kind === "cancelled") return signal?.reason;
  const wire = readAnswerError(end.bytes, end.envelope);
  return pluginFault(plugin, "PLUGIN_ANSWERED_ERROR", `answered ${method} with error ${wire?.code}`, { wire });
}
