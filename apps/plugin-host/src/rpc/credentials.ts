import type { JsonValue, RawCredentials } from "@berth/venv-host/executor";
import { listOf, neededText, objectOf, oneOf, refuseOthers, textOf, textsOf } from "./json-members.js";

const kinds = ["jwt", "opaque", "spiffe_jwt", "ucan", "txn_token"] as const;
const owners = ["user", "client", "caller_workload"] as const;
const inboundMembers = ["token", "kind", "sourceHeader", "of"];
const delegatedMembers = ["token", "outboundHeader", "audience", "scopes", "subjectId", "mode", "keyAudience"];

/**
 * The tokens of a request, for plugins that may have them. Who leaves `kind`, `sourceHeader` and `of` out means a user's token
 * that nothing is known of, from `Authorization`.
 * @throws {RequestFault} never with a token.
 */
export function readCredentials(value: JsonValue | undefined): RawCredentials | undefined {
  if (value === undefined || value === null) return undefined;
  const given = objectOf(value, "credentials");
  refuseOthers(given, ["inbound", "delegated"], "credentials");
  return {
    inbound: listOf(given["inbound"], "credentials.inbound").map(readInbound),
    delegated: listOf(given["delegated"], "credentials.delegated").map(readDelegated),
  };
}

function readInbound(value: JsonValue, index: number): RawCredentials["inbound"][number] {
  const at = `credentials.inbound[${index}]`;
  const given = objectOf(value, at);
  refuseOthers(given, inboundMembers, at);
  return {
    token: neededText(given["token"], `${at}.token`),
    kind: oneOf(given["kind"] ?? "opaque", kinds, `${at}.kind`),
    sourceHeader: textOf(given["sourceHeader"], `${at}.sourceHeader`) ?? "Authorization",
    of: oneOf(given["of"] ?? "user", owners, `${at}.of`),
  };
}

function readDelegated(value: JsonValue, index: number): RawCredentials["delegated"][number] {
  const at = `credentials.delegated[${index}]`;
  const given = objectOf(value, at);
  refuseOthers(given, delegatedMembers, at);
  const audience = neededText(given["audience"], `${at}.audience`);
  return {
    token: neededText(given["token"], `${at}.token`),
    outboundHeader: textOf(given["outboundHeader"], `${at}.outboundHeader`) ?? "Authorization",
    audience,
    scopes: textsOf(given["scopes"], `${at}.scopes`),
    subjectId: neededText(given["subjectId"], `${at}.subjectId`),
    mode: textOf(given["mode"], `${at}.mode`) ?? "on_behalf_of_user",
    keyAudience: textOf(given["keyAudience"], `${at}.keyAudience`) ?? audience,
  };
}
