import { type Edit, readMember, readScalar, type Span, splice } from "@berth/jsonrpc-framing";
import type { CallSubject } from "../relay-event.js";
import type { ServerTerms } from "../relay-terms.js";
import { encodeText, replacing, withId } from "../translate.js";
import type { LiveChild } from "../upstream/child.js";
import type { Answer } from "../upstream/pending.js";
import type { Upstream } from "../upstream/upstream.js";
import { createCallEnd } from "./call-end.js";
import { isLong } from "./id-length.js";
import type { ClientCall } from "./open-calls.js";
import type { SessionParts } from "./session-parts.js";
import type { LookedInto } from "./task-owners.js";

/** Progress tokens of tasks that are kept for one child; the oldest is forgotten first. */
const maxTaskTokens = 4_096;

/** What is sent where. */
export interface Dispatch {
  readonly upstream: Upstream;
  /** Changes to the frame beside its id. */
  readonly edits?: readonly Edit[] | undefined;
  /** What looks into its answer. */
  readonly looked?: LookedInto | undefined;
}

/** Sends a call whose intent is recorded, and takes care of its answer, its progress token and its cancellation. */
export function dispatchCall(
  session: SessionParts,
  call: ClientCall,
  child: LiveChild,
  subject: CallSubject,
  { upstream, edits, looked }: Dispatch,
): void {
  const { peer, evidence, progressTokens } = child;
  const token = progressTokenOf(call);
  const mayBecomeTask = call.envelope.members?.has("task") ?? false;
  const learnTask = (frame: Uint8Array, result: Span | undefined): boolean =>
    session.tasks.learn(subject.server, frame, result, looked);
  const end = createCallEnd(session, call, { subject, evidence, after: looked?.after });
  if (call.done) {
    end.cancelled();
    return;
  }

  const settle = (answer: Answer): void => {
    // A task goes on after the answer that created it, and so does its progress.
    const goesOn = mayBecomeTask && answer.kind === "response" && learnTask(answer.frame, answer.envelope.result);
    if (token !== undefined && !goesOn) progressTokens.delete(token);
    else if (goesOn) forgetOldTokens(child);
    if (call.done) return;
    if (answer.kind === "fault") end.failed(answer.fault);
    else end.answered(answer);
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
    end.cancelled();
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
