import { type Edit, readMember, readScalar, type Span, splice } from "@berth/jsonrpc-framing";
import type { CallOutcome, CallStatus, CallSubject } from "../relay-event.js";
import type { ServerTerms } from "../relay-terms.js";
import { encodeText, replacing, withId } from "../translate.js";
import type { LiveChild } from "../upstream/child.js";
import type { Answer, ServerAnswer } from "../upstream/pending.js";
import type { Upstream } from "../upstream/upstream.js";
import { isLong } from "./id-length.js";
import type { ClientCall } from "./open-calls.js";
import type { SessionParts } from "./session-parts.js";

/** Progress tokens of tasks that are kept for one child; the oldest is forgotten first. */
const maxTaskTokens = 4_096;
const isErrorKey = encodeText('"isError"');

/** What is sent where. */
export interface Dispatch {
  readonly upstream: Upstream;
  /** Changes to the frame beside its id. */
  readonly edits?: readonly Edit[] | undefined;
}

/** Sends a call whose intent is recorded, and takes care of its answer, its progress token and its cancellation. */
export function dispatchCall(
  session: SessionParts,
  call: ClientCall,
  child: LiveChild,
  subject: CallSubject,
  { upstream, edits }: Dispatch,
): void {
  const { peer, evidence, progressTokens } = child;
  const { scheduler } = session.terms;
  const startedAt = scheduler.now();
  const token = progressTokenOf(call);
  const mayBecomeTask = call.envelope.members?.has("task") ?? false;
  const learnTask = (frame: Uint8Array, result: Span | undefined): boolean =>
    session.tasks.learn(subject.server, frame, result);

  const record = (status: CallStatus, response?: Uint8Array, reason?: string, endedAt = scheduler.now()): void => {
    const durationMs = endedAt - startedAt;
    const outcome: CallOutcome = { type: "call.outcome", ...subject, evidence, status, reason, durationMs, response };
    void session.record(outcome);
  };
  if (call.done) {
    session.calls.abandon(call);
    record("cancelled");
    return;
  }

  const settle = (answer: Answer): void => {
    // A task goes on after the answer that created it, and so does its progress.
    const goesOn = mayBecomeTask && answer.kind === "response" && learnTask(answer.frame, answer.envelope.result);
    if (token !== undefined && !goesOn) progressTokens.delete(token);
    else if (goesOn) forgetOldTokens(child);
    if (call.done) return;
    if (answer.kind === "fault") {
      const { reason } = answer.fault.parts;
      record(statusOfReason(reason), session.calls.fail(call, answer.fault), reason);
    } else {
      const response = withId(answer.frame, answer.envelope, call.idBytes);
      session.calls.answer(call, response);
      const endedAt = scheduler.now();
      // A transport sends at the end of the tick, which comes before this: the client need not wait for the digests.
      queueMicrotask(() => record(statusOfAnswer(answer), response, undefined, endedAt));
    }
  };

  const build = (id: number): Uint8Array => {
    if (token !== undefined) progressTokens.set(token, id);
    return withId(call.frame, call.envelope, encodeText(String(id)), edits);
  };
  const id = peer.call(build, { waits: waitsOf(upstream.terms), settle });
  session.calls.release(call);
  call.onCancel = (frame, { members }) => {
    if (token !== undefined) progressTokens.delete(token);
    if (!peer.forget(id)) return;
    const requestId = members?.get("requestId");
    if (requestId !== undefined) peer.send(splice(frame, [replacing(requestId, encodeText(String(id)))]));
    record("cancelled");
  };
}

function waitsOf({ waits }: ServerTerms): { readonly silenceMs: number; readonly totalMs: number } {
  return { silenceMs: waits.callMs, totalMs: waits.callMaxMs };
}

function progressTokenOf({ frame, envelope }: ClientCall): string | number | undefined {
  const meta = envelope.members?.get("_meta");
  return meta && tokenAt(frame, readMember(frame, meta, ["progressToken"]));
}

/** Tokens of tasks outlive their calls, so their number is bounded here and not by that of calls. */
function forgetOldTokens({ peer, progressTokens }: LiveChild): void {
  for (const oldest of progressTokens.keys()) {
    if (progressTokens.size <= maxTaskTokens + peer.pendingRequests) return;
    progressTokens.delete(oldest);
  }
}

/** A progress token is a string or a number (MCP 2025-11-25, Progress); one that is longer than is kept is none. */
export function tokenAt(frame: Uint8Array, span: Span | undefined): string | number | undefined {
  if (span === undefined || isLong(span)) return undefined;
  const token = readScalar(frame, span);
  return typeof token === "string" || typeof token === "number" ? token : undefined;
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

function statusOfReason(reason: string): CallStatus {
  return statuses[reason] ?? "child-exited";
}
