import { type Envelope, type RequestId, wireErrors } from "@berth/jsonrpc-framing";
import { copySpan, errorFrame } from "../translate.js";
import { type FaultSubject, notServed, type RelayFault, wireErrorOf } from "../wire-errors.js";
import type { ClientSide } from "./client-side.js";

/** One request of the client that has no answer yet. */
export interface ClientCall {
  readonly id: RequestId;
  /** As the client wrote it. */
  readonly idBytes: Uint8Array;
  readonly method: string;
  /** As it came; emptied once it has left, so that a waiting call does not keep the chunk around it alive. */
  frame: Uint8Array;
  readonly envelope: Envelope;
  /** Answered or cancelled: nothing more is sent about it. */
  readonly done: boolean;
  /** Set once the call has left: passes the client's cancellation on. */
  onCancel: ((frame: Uint8Array, envelope: Envelope) => void) | undefined;
}

/** The client's requests in flight. */
export interface CallTable {
  /** Takes a request in; one that cannot be is answered here, and undefined. */
  open(frame: Uint8Array, envelope: Envelope): ClientCall | undefined;
  /** Sends the answer, once. */
  answer(call: ClientCall, frame: Uint8Array): void;
  /** Sends an error of the relay's own and returns its frame; undefined when the call is done. */
  fail(call: ClientCall, fault: RelayFault): Uint8Array | undefined;
  /** Ends a call without an answer (MCP 2025-11-25, Cancellation). Unknown and finished ids are ignored. */
  cancel(id: unknown, frame: Uint8Array, envelope: Envelope): void;
}

/** What a call table needs. */
export interface CallTableOptions {
  readonly client: ClientSide;
  readonly maxPendingCalls: number;
  advise?: ((subject: FaultSubject) => string | undefined) | undefined;
}

/** An empty table. */
export function createCallTable(options: CallTableOptions): CallTable {
  const { client, maxPendingCalls, advise } = options;
  const calls = new Map<RequestId, ClientCall & { done: boolean }>();

  const close = (call: ClientCall): boolean => {
    const open = calls.get(call.id);
    if (open !== call) return false;
    open.done = true;
    calls.delete(call.id);
    return true;
  };

  return {
    open(frame, envelope) {
      const { id, method } = envelope;
      if (id === undefined || method === undefined) throw new Error("only requests are calls");
      const idBytes = copySpan(frame, id);
      const refused = admitCall(calls.has(id.value), calls.size >= maxPendingCalls);
      if (refused !== undefined) {
        client.send(errorFrame(idBytes, wireErrorOf(refused, advise)));
        return undefined;
      }
      const call = { id: id.value, idBytes, method, frame, envelope, done: false, onCancel: undefined };
      calls.set(id.value, call);
      return call;
    },
    answer(call, frame) {
      if (close(call)) client.respond(call.idBytes, frame);
    },
    fail(call, fault) {
      if (!close(call)) return undefined;
      const frame = errorFrame(call.idBytes, wireErrorOf(fault, advise));
      client.respond(call.idBytes, frame);
      return frame;
    },
    cancel(id, frame, envelope) {
      const call = typeof id === "string" || typeof id === "number" ? calls.get(id) : undefined;
      if (call === undefined || call.method === "initialize" || !close(call)) return;
      call.onCancel?.(frame, envelope);
    },
  };
}

function admitCall(inUse: boolean, full: boolean): RelayFault | undefined {
  if (inUse) return notServed(wireErrors.invalidRequest, "ID_IN_USE", "a request with this id has no answer yet");
  if (full) return notServed(wireErrors.internal, "TOO_MANY_CALLS", "too many requests without an answer");
  return undefined;
}
