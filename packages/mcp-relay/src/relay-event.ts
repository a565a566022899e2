import type { ExitReport, UpstreamEvidence } from "./connection.js";

/**
 * What a relay session hands to its recorder, in the order in which it happened. `request` and `response` are whole frames as they pass on
 * the client's side of the relay (the original id and the name that the client used); a log keeps their size and digest, never the bytes.
 */
export type RelayEvent = CallIntent | CallOutcome | CallRefused | CallCancelled | DriftSeen | ChildExit;

/** Facts of one call that its events share. */
export interface CallSubject {
  /** Unique within the session; joins intent and outcome. */
  readonly callId: string;
  readonly server: string;
  readonly method: string;
  /** The server's own name of the tool or prompt, where the method has one. */
  readonly tool?: string | undefined;
  /** What the interceptor marked the call with. */
  readonly mark?: string | undefined;
}

/** Recorded before the frame leaves for the server. */
export interface CallIntent extends CallSubject {
  readonly type: "call.intent";
  readonly evidence: UpstreamEvidence;
  /** Whether the tool's definition equals its pin; `unpinned` when none was ever accepted, `none` for methods that have no definition. */
  readonly definition: "pinned" | "unpinned" | "none";
  /** Under `observe`: the reason for which this call would have been refused. */
  readonly wouldRefuse?: string | undefined;
  readonly request: Uint8Array;
  /** What leaves, with the client's own id, where an interceptor changed it. */
  readonly sent?: Uint8Array | undefined;
}

/** How a call that left ended. */
export type CallStatus =
  | "result"
  | "tool-error"
  | "error"
  | "cancelled"
  | "timeout"
  | "frame-too-large"
  | "denied"
  | "queue-full"
  | "child-exited"
  | "child-desynchronized"
  | "session-closed";

/** Recorded once for each intent. */
export interface CallOutcome extends CallSubject {
  readonly type: "call.outcome";
  readonly evidence: UpstreamEvidence;
  readonly status: CallStatus;
  /** The reason code that the client got, for the statuses that are the relay's own. */
  readonly reason?: string | undefined;
  readonly durationMs: number;
  /** What the client got; absent when it got nothing (a cancelled call). */
  readonly response?: Uint8Array | undefined;
  /** What the server had answered, with the client's own id, where an interceptor changed or refused it. */
  readonly received?: Uint8Array | undefined;
}

/** A call that never left. */
export interface CallRefused extends Omit<CallSubject, "server"> {
  /** Absent when the name or address led to no server. */
  readonly server?: string | undefined;
  readonly type: "call.refused";
  /** The wire code and the reason that the client got. */
  readonly code: number;
  readonly reason: string;
  readonly expected?: string | undefined;
  readonly measured?: string | undefined;
  readonly request: Uint8Array;
  readonly response: Uint8Array;
}

/** A call that the client took back before it left: no server has seen it, and nothing was answered. */
export interface CallCancelled extends Omit<CallSubject, "server"> {
  /** Absent when its name or address was still looked for. */
  readonly server?: string | undefined;
  readonly type: "call.cancelled";
}

/** What differs from what was pinned. Recorded once for each difference and child, not at each listing. */
export interface DriftSeen {
  readonly type: "drift";
  readonly server: string;
  readonly kind: DriftKind;
  /** Name, `uriTemplate`, or `instructions`. */
  readonly name: string;
  readonly change: DriftChange;
  /** For `renamed`: the pinned name that had this content. */
  readonly renamedFrom?: string | undefined;
  /** Pinned and live digest, where there is one. */
  readonly expected?: string | undefined;
  readonly measured?: string | undefined;
  /** True when it was let through nevertheless. */
  readonly observed: boolean;
}

export type DriftKind = "tool" | "prompt" | "resource-template" | "instructions";
/** `renamed`: a new name whose content, the name apart, is that of another pinned definition. */
export type DriftChange = "changed" | "new" | "withdrawn" | "renamed";

/** The end of a child, recorded when its process is known to be gone. */
export interface ChildExit {
  readonly type: "child.exit";
  readonly server: string;
  readonly evidence: UpstreamEvidence;
  /** `CHILD_EXITED` when it ended by itself, `SESSION_CLOSED`, or the reason for which the relay ended it. */
  readonly reason: string;
  readonly exit: ExitReport;
  readonly stderrBytes?: number | undefined;
  /** Lines that were dropped under `quarantine`. */
  readonly droppedLines: number;
}
