import { type Edit, wireErrors } from "@berth/jsonrpc-framing";
import type { LiveChild } from "../upstream/child.js";
import type { Upstream } from "../upstream/upstream.js";
import { notServed, RelayFault } from "../wire-errors.js";
import { type Admission, undefinedAdmission } from "./admission.js";
import { dispatchCall } from "./dispatch-call.js";
import type { ClientCall } from "./open-calls.js";
import type { SessionParts } from "./session-parts.js";

/** Where a call goes. */
export interface CallTarget {
  readonly upstream: Upstream;
  /** The server's own name of the tool or prompt. */
  readonly tool?: string | undefined;
  /** Changes to the frame beside its id. */
  readonly edits?: readonly Edit[] | undefined;
  /** Decides when the child is known; throws a `RelayFault` to refuse. Default: let through. */
  readonly admit?: ((child: LiveChild) => Admission | Promise<Admission>) | undefined;
}

/**
 * Takes a call to its server and the answer back. When the child runs and the decision is at hand the frame leaves before this returns, so
 * calls keep their order; else it waits for the start.
 */
export async function relayCall(session: SessionParts, call: ClientCall, target: CallTarget): Promise<void> {
  const { upstream, tool } = target;
  const subject = { server: upstream.terms.name, method: call.method, tool };
  try {
    const child = upstream.live ?? (await upstream.start());
    const decision = target.admit?.(child) ?? undefinedAdmission;
    const admission = decision instanceof Promise ? await decision : decision;
    if (call.done) return session.calls.abandon(call);
    const callId = session.nextCallId();
    const { evidence } = child;
    const recorded = session.record({
      type: "call.intent",
      callId,
      ...subject,
      evidence,
      ...admission,
      request: call.frame,
    });
    if (recorded !== undefined) await recorded.catch(notRecorded);
    dispatchCall(session, call, child, { callId, ...subject }, target);
  } catch (error) {
    refuseCall(session, call, error, subject);
  }
}

/** Answers a call with a refusal, and records it. A bug is answered as one, and told to the operator. */
export function refuseCall(
  session: SessionParts,
  call: ClientCall,
  error: unknown,
  subject: { readonly server?: string | undefined; readonly tool?: string | undefined },
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

function textOf(value: string | number | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
