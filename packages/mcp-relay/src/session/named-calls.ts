import { type Edit, readMember, readString, type Span, wireErrors } from "@berth/jsonrpc-framing";
import type { InterceptedMethod } from "../interception.js";
import { encodeText, replacing } from "../translate.js";
import { blocked, notServed } from "../wire-errors.js";
import { admit, isListed } from "./admission.js";
import { findNamed, type Named, type NamedKind } from "./find-named.js";
import type { ClientCall } from "./open-calls.js";
import { type CallTarget, refuseCall, relayCall, takenBack } from "./relay-call.js";
import type { SessionParts } from "./session-parts.js";

/** `tools/call` and `prompts/get`: by the name in `params.name`. */
export function callNamed(session: SessionParts, call: ClientCall, kind: NamedKind): Promise<void> {
  const looked = kind === "tools" ? "tools/call" : "prompts/get";
  return routeByName(session, call, kind, call.envelope.members?.get("name"), looked);
}

/** A completion for a prompt's argument: by the name in `params.ref.name`. */
export function completePrompt(session: SessionParts, call: ClientCall, ref: Span): Promise<void> {
  return routeByName(session, call, "prompts", readMember(call.frame, ref, ["name"]));
}

async function routeByName(
  session: SessionParts,
  call: ClientCall,
  kind: NamedKind,
  span: Span | undefined,
  looked?: InterceptedMethod,
): Promise<void> {
  const exposed = span && readString(call.frame, span);
  let named: Named;
  try {
    if (span === undefined || exposed === undefined) {
      throw notServed(wireErrors.invalidParams, "PARAMS_INVALID", `${call.method} needs a name, a string`);
    }
    const found = findNamed(session, kind, exposed);
    named = found instanceof Promise ? await found : found;
  } catch (error) {
    if (call.done) takenBack(session, call, { tool: exposed });
    return refuseCall(session, call, error, { tool: exposed });
  }
  return relayCall(session, call, targetOf(session, kind, named, span, exposed, looked));
}

/** The way of a call under a name of the server's own. */
function targetOf(
  session: SessionParts,
  kind: NamedKind,
  { upstream, name }: Named,
  span: Span,
  exposed: string,
  looked: InterceptedMethod | undefined,
): CallTarget {
  const to = (other: string): CallTarget => {
    if (!isListed(upstream.terms, kind, other)) throw blocked(upstream.terms.name, "TOOL_DENIED", other);
    return targetOf(session, kind, { upstream, name: other }, span, exposed, undefined);
  };
  return {
    upstream,
    tool: name,
    edits: renaming(span, exposed, name),
    admit: (child) => admit(kind, name, child, upstream.terms, session.terms),
    open: looked && { method: looked, name, retarget: to },
  };
}

function renaming(span: Span, exposed: string, name: string): readonly Edit[] | undefined {
  return exposed === name ? undefined : [replacing(span, encodeText(JSON.stringify(name)))];
}
