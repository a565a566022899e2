import { readMember, readString, wireErrors } from "@berth/jsonrpc-framing";
import { notServed } from "../wire-errors.js";
import { admit } from "./admission.js";
import type { Found, ResourceFinder } from "./find-resource.js";
import { completePrompt } from "./named-calls.js";
import type { ClientCall } from "./open-calls.js";
import { refuseCall, relayCall } from "./relay-call.js";
import type { SessionParts } from "./session-parts.js";

/** `resources/read`, `resources/subscribe` and `resources/unsubscribe`: by `params.uri`, which stays as it is. */
export async function callResource(session: SessionParts, call: ClientCall, finder: ResourceFinder): Promise<void> {
  const span = call.envelope.members?.get("uri");
  const uri = span && readString(call.frame, span);
  await routeTo(session, call, () => {
    if (uri === undefined) throw badParams(`${call.method} needs a uri, a string`);
    return finder.byUri(uri);
  });
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

async function routeTo(session: SessionParts, call: ClientCall, find: () => Promise<Found>): Promise<void> {
  let found: Found;
  try {
    found = await find();
  } catch (error) {
    return refuseCall(session, call, error, {});
  }
  const { upstream, template } = found;
  await relayCall(session, call, {
    upstream,
    admit:
      template === undefined
        ? undefined
        : (child) => admit("resourceTemplates", template, child, upstream.terms, session.terms),
  });
}

function badParams(problem: string) {
  return notServed(wireErrors.invalidParams, "PARAMS_INVALID", problem);
}
