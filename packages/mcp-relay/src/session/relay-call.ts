import { type Edit, type JsonValue, splice, wireErrors } from "@berth/jsonrpc-framing";
import type { CallInterception, InterceptedMethod } from "../interception.js";
import type { CallSubject } from "../relay-event.js";
import type { LiveChild } from "../upstream/child.js";
import type { Upstream } from "../upstream/upstream.js";
import { notServed, RelayFault } from "../wire-errors.js";
import { type Admission, undefinedAdmission } from "./admission.js";
import { dispatchCall } from "./dispatch-call.js";
import type { ClientCall } from "./open-calls.js";
import type { SessionParts } from "./session-parts.js";
import type { LookedInto } from "./task-owners.js";

/** Where a call goes. */
export interface CallTarget {
  readonly upstream: Upstream;
  /** The server's own name of the tool or prompt. */
  readonly tool?: string | undefined;
  /** Changes to the frame beside its id. */
  readonly edits?: readonly Edit[] | undefined;
  /** Decides when the child is known; throws a `RelayFault` to refuse. Default: let through. */
  readonly admit?: ((child: LiveChild) => Admission | Promise<Admission>) | undefined;
  /** What of it an interceptor may look into. */
  readonly open?: OpenToLooks | undefined;
  /** What looks into its answer. */
  readonly looked?: LookedInto | undefined;
  /** Whether what looked into it has changed it. */
  readonly isChanged?: boolean | undefined;
}

/** A call that an interceptor is asked about. */
export interface OpenToLooks {
  readonly method: InterceptedMethod;
  /** The server's own name of the tool or prompt, or the address of the resource. */
  readonly name: string;
  /** The way of the same call under another name, on the same server; throws a `RelayFault` when there is none. */
  retarget(name: string): CallTarget | Promise<CallTarget>;
}

/**
 * Takes a call to its server and the answer back. When the child runs and the decision is at hand the frame leaves before this returns, so
 * calls keep their order; else it waits for the start, and for whatever looks into it.
 */
export async function relayCall(session: SessionParts, call: ClientCall, target: CallTarget): Promise<void> {
  const { upstream, tool } = target;
  const subject = { server: upstream.terms.name, method: call.method, tool, mark: target.looked?.mark };
  let current = subject;
  try {
    const child = upstream.live ?? (await upstream.start());
    const decision = target.admit?.(child) ?? undefinedAdmission;
    const admission = decision instanceof Promise ? await decision : decision;
    if (call.done) return takenBack(session, call, subject);
    const interception = beginLooks(session, target);
    if (interception === undefined) return await send(session, call, { child, admission, subject, target });
    current = { ...subject, mark: interception.mark };
    const looked = await lookInto(session, call, target, interception);
    if (call.done) return takenBack(session, call, current);
    current = { ...current, tool: looked.tool };
    // What was decided before the wait may hold no longer: the list may have changed, the child be another.
    const present = upstream.live ?? (await upstream.start());
    const again = (await looked.admit?.(present)) ?? undefinedAdmission;
    if (call.done) return takenBack(session, call, current);
    await send(session, call, { child: present, admission: again, subject: current, target: looked });
  } catch (error) {
    if (call.done) takenBack(session, call, current);
    refuseCall(session, call, error, current);
  }
}

/** A call that is ready to leave. */
interface Ready {
  readonly child: LiveChild;
  readonly admission: Admission;
  readonly subject: Omit<CallSubject, "callId">;
  readonly target: CallTarget;
}

/** Records the intent, then lets the call leave. */
async function send(
  session: SessionParts,
  call: ClientCall,
  { child, admission, subject, target }: Ready,
): Promise<void> {
  const callId = session.nextCallId();
  const { evidence } = child;
  const sent = target.isChanged === true ? splice(call.frame, target.edits ?? []) : undefined;
  const recorded = session.record({
    type: "call.intent",
    callId,
    ...subject,
    evidence,
    ...admission,
    request: call.frame,
    sent,
  });
  if (recorded !== undefined) await recorded.catch(notRecorded);
  dispatchCall(session, call, child, { callId, ...subject }, target);
}

function beginLooks({ intercepting }: SessionParts, { open, upstream }: CallTarget): CallInterception | undefined {
  if (intercepting === undefined || open === undefined) return undefined;
  return intercepting.begin({ server: upstream.terms.name, method: open.method, name: open.name });
}

/** The target as what looks into the call leaves it. */
async function lookInto(
  { intercepting }: SessionParts,
  call: ClientCall,
  target: CallTarget,
  interception: CallInterception,
): Promise<CallTarget> {
  const { open, upstream } = target;
  if (intercepting === undefined || open === undefined) throw new Error("nothing looks into this call");
  const about = { server: upstream.terms.name, method: open.method, name: open.name };
  const { name, edits } = await intercepting.before(call, about, interception);
  const leaving = name === undefined ? target : await open.retarget(name);
  const isChanged = name !== undefined || edits.length > 0;
  return { ...leaving, edits: [...(leaving.edits ?? []), ...edits], looked: interception, isChanged };
}

/** Records that the client wants a call no longer that did not leave, and lets go of it. */
export function takenBack(
  session: SessionParts,
  call: ClientCall,
  subject: Partial<Omit<CallSubject, "callId" | "method">>,
): void {
  session.calls.abandon(call);
  const { server, tool, mark } = subject;
  const callId = session.nextCallId();
  void session.record({ type: "call.cancelled", callId, method: call.method, server, tool, mark });
}

/** Answers a call with a refusal, and records it. A bug is answered as one, and told to the operator. */
export function refuseCall(
  session: SessionParts,
  call: ClientCall,
  error: unknown,
  subject: Partial<Omit<CallSubject, "callId">>,
): void {
  const fault = error instanceof RelayFault ? error : notServed(wireErrors.internal, "INTERNAL", "internal error");
  const { method, frame: request } = call;
  const response = session.calls.fail(call, fault);
  if (response !== undefined) {
    const { code, reason, server = subject.server, name, data } = fault.parts;
    // A name that was looked up in vain is still the client's own; the fault knows the server's.
    const tool = (server === undefined ? undefined : name) ?? subject.tool;
    const digests = { expected: textOf(data?.["expected"]), measured: textOf(data?.["measured"]) };
    const callId = session.nextCallId();
    void session.record({
      type: "call.refused",
      callId,
      method,
      server,
      tool,
      mark: subject.mark,
      code,
      reason,
      ...digests,
      request,
      response,
    });
  }
  if (fault === error) return;
  session.notice({
    code: "INTERNAL",
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
}

function notRecorded(cause: unknown): never {
  const problem = "the call could not be recorded, and so was not made";
  throw new RelayFault({ code: wireErrors.internal, reason: "NOT_RECORDED", problem }, { cause });
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
