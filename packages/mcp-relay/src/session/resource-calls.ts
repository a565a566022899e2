import { readMember, readString, type Span, wireErrors } from "@berth/jsonrpc-framing";
import { encodeText, replacing } from "../translate.js";
import { notServed, RelayFault, relayErrors } from "../wire-errors.js";
import { admit } from "./admission.js";
import type { Found, ResourceFinder } from "./find-resource.js";
import { completePrompt } from "./named-calls.js";
import type { ClientCall } from "./open-calls.js";
import { type CallTarget, type OpenToLooks, refuseCall, relayCall, takenBack } from "./relay-call.js";
import type { SessionParts } from "./session-parts.js";

/** `resources/read`, `resources/subscribe` and `resources/unsubscribe`: by `params.uri`, which stays as it is. */
export async function callResource(session: SessionParts, call: ClientCall, finder: ResourceFinder): Promise<void> {
  const span = call.envelope.members?.get("uri");
  const uri = span && readString(call.frame, span);
  const find = async (): Promise<Found> => {
    if (uri === undefined) throw badParams(`${call.method} needs a uri, a string`);
    return finder.byUri(uri);
  };
  const isRead = call.method === "resources/read" && span !== undefined && uri !== undefined;
  await routeTo(session, call, find, isRead ? { uri, span, finder } : undefined);
}

/** An address that is read, where it stands, and how another one would be found. */
interface Address {
  readonly uri: string;
  readonly span: Span;
  readonly finder: ResourceFinder;
}

/** `completion/complete`: to the server of the prompt or template that `params.ref` names. */
export async function complete(session: SessionParts, call: ClientCall, finder: ResourceFinder): Promise<void> {
  const ref = call.envelope.members?.get("ref");
  const text = (member: string): string | undefined => {
    const span = ref && readMember(call.frame, ref, [member]);
    return span && readString(call.frame, span);
  };
  if (ref !== undefined && text("type") === "ref/prompt") return completePrompt(session, call, ref);
  const uri = text("uri");
  await routeTo(session, call, () => {
    if (text("type") !== "ref/resource" || uri === undefined)
      throw badParams(`${call.method} needs a ref to a prompt or resource`);
    return finder.byTemplate(uri);
  });
}

async function routeTo(
  session: SessionParts,
  call: ClientCall,
  find: () => Promise<Found>,
  address?: Address,
): Promise<void> {
  let found: Found;
  try {
    found = await find();
  } catch (error) {
    if (call.done) takenBack(session, call, {});
    return refuseCall(session, call, error, {});
  }
  await relayCall(session, call, { ...targetOf(session, found), open: address && openFor(session, found, address) });
}

function targetOf(session: SessionParts, { upstream, template }: Found): CallTarget {
  if (template === undefined) return { upstream };
  return { upstream, admit: (child) => admit("resourceTemplates", template, child, upstream.terms, session.terms) };
}

/** Another address is looked for like one that the client gave, and has to be the same server's. */
function openFor(session: SessionParts, { upstream }: Found, { uri, span, finder }: Address): OpenToLooks {
  const retarget = async (other: string): Promise<CallTarget> => {
    const found = await finder.byUri(other);
    if (found.upstream !== upstream) throw leftServer(upstream.terms.name);
    return { ...targetOf(session, found), edits: [replacing(span, encodeText(JSON.stringify(other)))] };
  };
  return { method: "resources/read", name: uri, retarget };
}

function leftServer(server: string): RelayFault {
  const problem = `the call was led to a resource of another server than ${JSON.stringify(server)}`;
  return new RelayFault({ code: relayErrors.denied, reason: "INTERCEPTION_LEFT_SERVER", server, problem });
}

function badParams(problem: string) {
  return notServed(wireErrors.invalidParams, "PARAMS_INVALID", problem);
}
