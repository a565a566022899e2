import { readMember, readScalar, wireErrors } from "@berth/jsonrpc-framing";
import type { UpstreamEvidence } from "../connection.js";
import type { CallOutcome, CallStatus, CallSubject } from "../relay-event.js";
import { encodeText, withId } from "../translate.js";
import type { ServerAnswer } from "../upstream/pending.js";
import { notServed, RelayFault, relayErrors } from "../wire-errors.js";
import type { AskAfter } from "./intercepting.js";
import type { ClientCall } from "./open-calls.js";
import type { SessionParts } from "./session-parts.js";

const isErrorKey = encodeText('"isError"');

/** The end of a call that left, told to the client and recorded once. */
export interface CallEnd {
  /** The server's answer, as it came or as what looks into it leaves it. */
  answered(answer: ServerAnswer): void;
  failed(fault: RelayFault): void;
  /** The client wants no answer any more. */
  cancelled(): void;
}

/** Begins the time of the call. */
export function createCallEnd(session: SessionParts, call: ClientCall, { subject, evidence, after }: Leaving): CallEnd {
  const { scheduler } = session.terms;
  const startedAt = scheduler.now();
  const record = (status: CallStatus, { response, reason, received, endedAt = scheduler.now() }: Told = {}): void => {
    const durationMs = endedAt - startedAt;
    const ended = { status, reason, durationMs, response, received };
    const outcome: CallOutcome = { type: "call.outcome", ...subject, evidence, ...ended };
    void session.record(outcome);
  };
  const fail = (fault: RelayFault, received?: Uint8Array): void => {
    const { reason } = fault.parts;
    record(statusOfFault(fault), { response: session.calls.fail(call, fault), reason, received });
  };
  const give = (answer: ServerAnswer, response: Uint8Array, received?: Uint8Array): void => {
    session.calls.answer(call, response);
    const endedAt = scheduler.now();
    // A transport sends at the end of the tick, which comes before this: the client need not wait for the digests.
    queueMicrotask(() => record(statusOfAnswer(answer), { response, received, endedAt }));
  };
  const cancelled = (): void => {
    session.calls.abandon(call);
    record("cancelled");
  };
  const lookInto = async (answer: ServerAnswer, ask: AskAfter): Promise<void> => {
    const { frame, envelope } = answer;
    const received = (): Uint8Array => withId(frame, envelope, call.idBytes);
    try {
      const edit = await session.intercepting?.after(call, subject.server, ask, answer);
      if (call.done) cancelled();
      else if (edit === undefined) give(answer, received());
      else give(answer, withId(frame, envelope, call.idBytes, [edit]), received());
    } catch (error) {
      if (call.done) cancelled();
      else fail(error instanceof RelayFault ? error : bug(session, error), received());
    }
  };
  return {
    cancelled,
    failed: fail,
    answered(answer) {
      if (answer.kind === "response" && after !== undefined) {
        call.onCancel = undefined; // there is nothing to cancel at the server any more
        void lookInto(answer, after);
      } else give(answer, withId(answer.frame, answer.envelope, call.idBytes));
    },
  };
}

/** What is known of a call when it leaves. */
export interface Leaving {
  readonly subject: CallSubject;
  readonly evidence: UpstreamEvidence;
  /** What looks into its result. */
  readonly after: AskAfter | undefined;
}

/** What an outcome says beside its status. */
interface Told {
  readonly response?: Uint8Array | undefined;
  readonly reason?: string | undefined;
  readonly received?: Uint8Array | undefined;
  readonly endedAt?: number | undefined;
}

function bug({ notice }: SessionParts, error: unknown): RelayFault {
  notice({ code: "INTERNAL", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  return notServed(wireErrors.internal, "INTERNAL", "internal error");
}

/** `isError` is looked for only where its name occurs, found at the speed of the machine: a large result is not walked twice for a label. */
function statusOfAnswer({ kind, frame, envelope: { result } }: ServerAnswer): CallStatus {
  if (kind === "error") return "error";
  if (result === undefined || Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).indexOf(isErrorKey) === -1)
    return "result";
  const span = readMember(frame, result, ["isError"]);
  return span !== undefined && readScalar(frame, span) === true ? "tool-error" : "result";
}

const statuses: Readonly<Record<string, CallStatus>> = {
  CALL_TIMEOUT: "timeout",
  FRAME_TOO_LARGE: "frame-too-large",
  QUEUE_FULL: "queue-full",
  CHILD_EXITED: "child-exited",
  CHILD_DESYNCHRONIZED: "child-desynchronized",
  SESSION_CLOSED: "session-closed",
};

function statusOfFault({ parts: { code, reason } }: RelayFault): CallStatus {
  if (code !== relayErrors.upstreamGone) return "denied";
  return statuses[reason] ?? "child-exited";
}
