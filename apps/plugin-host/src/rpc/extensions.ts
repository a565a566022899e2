import type { Extensions, JsonObject, JsonValue } from "@berth/venv-host/executor";
import {
  flagOf,
  headersOf,
  listOf,
  neededText,
  numberOf,
  objectOf,
  refuseOthers,
  textOf,
  textsOf,
} from "./json-members.js";

const plainSlots = [
  "request",
  "agent",
  "mcp",
  "completion",
  "provenance",
  "llm",
  "framework",
  "meta",
  "custom",
] as const;

/** The extensions of a request: http, security and delegation have forms of their own, the others are objects. */
export function readExtensions(value: JsonValue | undefined): Extensions | undefined {
  if (value === undefined || value === null) return undefined;
  const given = objectOf(value, "extensions");
  refuseOthers(given, [...plainSlots, "http", "security", "delegation"], "extensions");
  const slots: { [name in (typeof plainSlots)[number]]?: JsonObject } = {};
  for (const name of plainSlots) {
    const slot = given[name];
    if (slot !== undefined) slots[name] = objectOf(slot, `extensions.${name}`);
  }
  return {
    ...slots,
    http: readHttp(given["http"]),
    security: readSecurity(given["security"]),
    delegation: readDelegation(given["delegation"]),
  };
}

function readHttp(value: JsonValue | undefined): Extensions["http"] {
  if (value === undefined) return undefined;
  const given = objectOf(value, "extensions.http");
  refuseOthers(given, ["requestHeaders", "responseHeaders", "method", "path", "host", "scheme"], "extensions.http");
  const text = (name: string): string | undefined => textOf(given[name], `extensions.http.${name}`);
  return {
    requestHeaders: headersOf(given["requestHeaders"], "extensions.http.requestHeaders"),
    responseHeaders: headersOf(given["responseHeaders"], "extensions.http.responseHeaders"),
    method: text("method"),
    path: text("path"),
    host: text("host"),
    scheme: text("scheme"),
  };
}

const securityMembers = [
  "labels",
  "classification",
  "subject",
  "objects",
  "data",
  "client",
  "callerWorkload",
  "thisWorkload",
  "authMethod",
];

function readSecurity(value: JsonValue | undefined): Extensions["security"] {
  if (value === undefined) return undefined;
  const at = "extensions.security";
  const given = objectOf(value, at);
  refuseOthers(given, securityMembers, at);
  const object = (name: string): JsonObject | undefined => {
    const slot = given[name];
    return slot === undefined ? undefined : objectOf(slot, `${at}.${name}`);
  };
  return {
    labels: textsOf(given["labels"], `${at}.labels`),
    classification: textOf(given["classification"], `${at}.classification`),
    subject: readSubject(given["subject"]),
    objects: object("objects"),
    data: object("data"),
    client: object("client"),
    callerWorkload: object("callerWorkload"),
    thisWorkload: object("thisWorkload"),
    authMethod: textOf(given["authMethod"], `${at}.authMethod`),
  };
}

type Subject = NonNullable<NonNullable<Extensions["security"]>["subject"]>;

function readSubject(value: JsonValue | undefined): Subject | undefined {
  if (value === undefined) return undefined;
  const at = "extensions.security.subject";
  const given = objectOf(value, at);
  refuseOthers(given, ["id", "type", "roles", "teams", "permissions", "claims"], at);
  return {
    id: neededText(given["id"], `${at}.id`),
    type: neededText(given["type"], `${at}.type`),
    roles: textsOf(given["roles"], `${at}.roles`),
    teams: textsOf(given["teams"], `${at}.teams`),
    permissions: textsOf(given["permissions"], `${at}.permissions`),
    claims: given["claims"] === undefined ? {} : objectOf(given["claims"], `${at}.claims`),
  };
}

function readDelegation(value: JsonValue | undefined): Extensions["delegation"] {
  if (value === undefined) return undefined;
  const at = "extensions.delegation";
  const given = objectOf(value, at);
  refuseOthers(given, ["chain", "depth", "originSubjectId", "actorSubjectId", "delegated", "ageSeconds"], at);
  const { depth, delegated, ageSeconds } = given;
  const hops = listOf(given["chain"], `${at}.chain`).map((hop, index) => readHop(hop, `${at}.chain[${index}]`));
  return {
    chain: hops,
    depth: numberOf(depth, `${at}.depth`) ?? hops.length,
    originSubjectId: textOf(given["originSubjectId"], `${at}.originSubjectId`),
    actorSubjectId: textOf(given["actorSubjectId"], `${at}.actorSubjectId`),
    delegated: flagOf(delegated, `${at}.delegated`) ?? hops.length > 0,
    ageSeconds: numberOf(ageSeconds, `${at}.ageSeconds`),
  };
}

type Hop = NonNullable<Extensions["delegation"]>["chain"][number];

function readHop(value: JsonValue, at: string): Hop {
  const { subjectId, subjectType, audience, scopesGranted, strategy, ...others } = objectOf(value, at);
  return {
    ...others,
    subjectId: neededText(subjectId, `${at}.subjectId`),
    subjectType: neededText(subjectType, `${at}.subjectType`),
    audience: textOf(audience, `${at}.audience`),
    scopesGranted: textsOf(scopesGranted, `${at}.scopesGranted`),
    strategy: textOf(strategy, `${at}.strategy`),
  };
}
