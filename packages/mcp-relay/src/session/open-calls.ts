import { type Envelope, type EnvelopeId, type RequestId, wireErrors } from "@berth/jsonrpc-framing";
import { notServed, type RelayFault } from "../wire-errors.js";
import { isLong, maxIdBytes } from "./id-length.js";

const nothing = new Uint8Array();

/** One request of the client that has no answer yet. */
export interface ClientCall {
  readonly id: RequestId;
  /** As the client wrote it. */
  readonly idBytes: Uint8Array;
  readonly method: string;
  /** As it came; emptied once it has left or is done, so that a waiting call does not keep the chunk around it alive. */
  readonly frame: Uint8Array;
  readonly envelope: Envelope;
  /** Answered or cancelled: nothing more is sent about it. */
  readonly done: boolean;
  /** Set while the call is looked into: ends that. */
  onAbort: ((reason: RelayFault) => void) | undefined;
  /** Set once the call has left: passes the client's cancellation on. */
  onCancel: ((frame: Uint8Array, envelope: Envelope) => void) | undefined;
}

/** Bounds of what a client may have in flight. */
export interface OpenCallLimits {
  readonly maxPendingCalls: number;
  /** Of frames that have not left. */
  readonly maxPendingBytes: number;
}

/** The calls in flight and the memory that they hold. */
export interface OpenCalls {
  /** Why a request cannot come in now. */
  refusalOf(id: EnvelopeId, frameBytes: number): RelayFault | undefined;
  add(id: RequestId, idBytes: Uint8Array, method: string, frame: Uint8Array, envelope: Envelope): ClientCall;
  find(id: unknown): ClientCall | undefined;
  /** Ends a call; false when it has ended before. */
  close(call: ClientCall): boolean;
  /** The call has left: its frame is let go of. */
  release(call: ClientCall): void;
  /** A closed call that did not leave goes its way to the end, and counts until it is abandoned. */
  keepUntilAbandoned(call: ClientCall): void;
  abandon(call: ClientCall): void;
}

/** None in flight. */
export function createOpenCalls({ maxPendingCalls, maxPendingBytes }: OpenCallLimits): OpenCalls {
  const calls = new Map<RequestId, ClientCall & { done: boolean }>();
  /** A client that calls and cancels without end must not fill memory with calls on their way. */
  const cancelled = new Set<ClientCall>();
  let heldBytes = 0;

  const release = (call: { frame: Uint8Array }): void => {
    heldBytes -= call.frame.length;
    call.frame = nothing;
  };

  return {
    release,
    refusalOf(id, frameBytes) {
      if (isLong(id)) return notServed(wireErrors.invalidRequest, "ID_TOO_LONG", `an id over ${maxIdBytes} bytes`);
      if (calls.has(id.value)) {
        return notServed(wireErrors.invalidRequest, "ID_IN_USE", "a request with this id has no answer yet");
      }
      if (calls.size + cancelled.size >= maxPendingCalls) return tooMany("too many requests without an answer");
      // A single one is never too large: the transport bounds it.
      if (heldBytes === 0 || heldBytes + frameBytes <= maxPendingBytes) return undefined;
      return tooMany(`over ${maxPendingBytes} bytes of requests that have not left`);
    },
    add(id, idBytes, method, frame, envelope) {
      const call = { id, idBytes, method, frame, envelope, done: false, onAbort: undefined, onCancel: undefined };
      calls.set(id, call);
      heldBytes += frame.length;
      return call;
    },
    find: (id) => (typeof id === "string" || typeof id === "number" ? calls.get(id) : undefined),
    close(call) {
      const open = calls.get(call.id);
      if (open !== call) {
        cancelled.delete(call);
        return false;
      }
      open.done = true;
      calls.delete(call.id);
      release(open);
      return true;
    },
    keepUntilAbandoned: (call) => void cancelled.add(call),
    abandon: (call) => void cancelled.delete(call),
  };
}

function tooMany(problem: string): RelayFault {
  return notServed(wireErrors.internal, "TOO_MANY_CALLS", problem);
}
