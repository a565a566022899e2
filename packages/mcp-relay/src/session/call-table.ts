import { type Envelope, wireErrors } from "@berth/jsonrpc-framing";
import { copySpan, errorFrame } from "../translate.js";
import { type FaultSubject, notServed, type RelayFault, wireErrorOf } from "../wire-errors.js";
import type { ClientSide } from "./client-side.js";
import { type ClientCall, createOpenCalls, type OpenCallLimits } from "./open-calls.js";

/** The client's requests in flight. */
export interface CallTable {
  /** Takes a request in; one that cannot be is answered here, and undefined. */
  open(frame: Uint8Array, envelope: Envelope): ClientCall | undefined;
  /** The call has left: its frame is let go of. */
  release(call: ClientCall): void;
  /** A call that was cancelled before it left has come to the end of its way. */
  abandon(call: ClientCall): void;
  /** Sends the answer, once. */
  answer(call: ClientCall, frame: Uint8Array): void;
  /** Sends an error of the relay's own and returns its frame; undefined when the call is done. */
  fail(call: ClientCall, fault: RelayFault): Uint8Array | undefined;
  /** Ends a call without an answer (MCP 2025-11-25, Cancellation). Unknown and finished ids are ignored. */
  cancel(id: unknown, frame: Uint8Array, envelope: Envelope): void;
}

/** What a call table needs. */
export interface CallTableOptions extends OpenCallLimits {
  readonly client: ClientSide;
  advise?: ((subject: FaultSubject) => string | undefined) | undefined;
}

/** An empty table. */
export function createCallTable(options: CallTableOptions): CallTable {
  const { client, advise } = options;
  const calls = createOpenCalls(options);
  return {
    open(frame, envelope) {
      const { id, method } = envelope;
      if (id === undefined || method === undefined) throw new Error("only requests are calls");
      const refusal = calls.refusalOf(id, frame.length);
      const idBytes = copySpan(frame, id);
      if (refusal === undefined) return calls.add(id.value, idBytes, method, frame, envelope);
      client.send(errorFrame(idBytes, wireErrorOf(refusal, advise)));
      return undefined;
    },
    release: calls.release,
    abandon: calls.abandon,
    answer(call, frame) {
      if (calls.close(call)) client.respond(call.idBytes, frame);
    },
    fail(call, fault) {
      if (!calls.close(call)) return undefined;
      const frame = errorFrame(call.idBytes, wireErrorOf(fault, advise));
      client.respond(call.idBytes, frame);
      return frame;
    },
    cancel(id, frame, envelope) {
      const call = calls.find(id);
      if (call === undefined || call.method === "initialize" || !calls.close(call)) return;
      call.onAbort?.(notServed(wireErrors.internal, "INTERNAL", "the client cancelled the call"));
      if (call.onCancel === undefined) calls.keepUntilAbandoned(call);
      else call.onCancel(frame, envelope);
    },
  };
}
