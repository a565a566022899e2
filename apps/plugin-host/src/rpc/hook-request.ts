import type { JsonValue as FrameValue } from "@berth/jsonrpc-framing";
import type { Extensions, HookRequest, JsonObject, JsonValue } from "@berth/venv-host/executor";

/** A request to run a hook, as a document says it. */
export interface AskedHook {
  readonly hook: string;
  readonly payload: JsonObject;
  readonly globalContext: HookRequest["globalContext"];
  readonly extensions: Extensions | undefined;
  /** The name of what plugins noted in the hook before. */
  readonly carried: string | undefined;
}

/** Thrown for a request that is not of its form; the message names the member. */
export class RequestFault extends Error {
  override readonly name = "RequestFault";
  readonly code = "REQUEST_INVALID";
}

const members = ["hook", "payload", "context", "extensions", "carried"];
const contextMembers = ["requestId", "user", "userContext", "tenantId", "serverId", "contentType", "state", "metadata"];

/** Reads the parameters of `hooks/invoke`. A misspelled member is a fault: left out in silence, a policy could be passed by. */
export function readAskedHook(value: FrameValue | JsonValue | undefined): AskedHook {
  const params = objectOf(value, "params");
  refuseOthers(params, members, "params");
  const { hook, payload, context, extensions, carried } = params;
  if (typeof hook !== "string") throw new RequestFault("hook has to be the name of a hook");
  if (carried !== undefined && typeof carried !== "string") throw new RequestFault("carried has to be a text");
  return {
    hook,
    payload: objectOf(payload, "payload"),
    globalContext: readContext(context),
    extensions: readExtensions(extensions),
    carried,
  };
}

/** The context of a request; the executor checks its values. */
export function readContext(value: JsonValue | undefined): HookRequest["globalContext"] {
  const context = value === undefined ? {} : objectOf(value, "context");
  refuseOthers(context, contextMembers, "context");
  const text = (name: string): string | undefined => {
    const given = context[name] ?? undefined;
    if (given === undefined || typeof given === "string") return given;
    throw new RequestFault(`context.${name} has to be a text`);
  };
  const object = (name: string): JsonObject | undefined => {
    const given = context[name] ?? undefined;
    return given === undefined ? undefined : objectOf(given, `context.${name}`);
  };
  const user = context["user"] ?? undefined;
  return {
    requestId: text("requestId"),
    user: user === undefined || typeof user === "string" ? user : objectOf(user, "context.user"),
    userContext: object("userContext"),
    tenantId: text("tenantId"),
    serverId: text("serverId"),
    contentType: text("contentType"),
    state: object("state") ?? {},
    metadata: object("metadata") ?? {},
  };
}

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
    id: textOf(given["id"], `${at}.id`) ?? missing(`${at}.id`),
    type: textOf(given["type"], `${at}.type`) ?? missing(`${at}.type`),
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
  const { chain = [], depth, delegated, ageSeconds } = given;
  if (!isList(chain)) throw new RequestFault(`${at}.chain has to be a list`);
  const hops = chain.map((hop, index) => readHop(hop, `${at}.chain[${index}]`));
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
    subjectId: textOf(subjectId, `${at}.subjectId`) ?? missing(`${at}.subjectId`),
    subjectType: textOf(subjectType, `${at}.subjectType`) ?? missing(`${at}.subjectType`),
    audience: textOf(audience, `${at}.audience`),
    scopesGranted: textsOf(scopesGranted, `${at}.scopesGranted`),
    strategy: textOf(strategy, `${at}.strategy`),
  };
}

/** @throws {RequestFault} */
export function objectOf(value: FrameValue | JsonValue | undefined, at: string): JsonObject {
  if (isObject(value)) return value;
  throw new RequestFault(`${at} has to be an object`);
}

function isObject(value: FrameValue | JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function textOf(value: JsonValue | undefined, at: string): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new RequestFault(`${at} has to be a text`);
}

function numberOf(value: JsonValue | undefined, at: string): number | undefined {
  if (value === undefined || typeof value === "number") return value;
  throw new RequestFault(`${at} has to be a number`);
}

function flagOf(value: JsonValue | undefined, at: string): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  throw new RequestFault(`${at} has to be true or false`);
}

function textsOf(value: JsonValue | undefined, at: string): readonly string[] {
  if (value === undefined) return [];
  if (!isList(value)) throw new RequestFault(`${at} has to be a list of texts`);
  return value.map((item) => textOf(item, at) ?? missing(at));
}

function headersOf(value: JsonValue | undefined, at: string): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  const entries = Object.entries(objectOf(value, at)).map(
    ([name, text]) => [name, textOf(text, `${at}.${name}`) ?? ""] as const,
  );
  return Object.fromEntries(entries);
}

function missing(at: string): never {
  throw new RequestFault(`${at} is missing`);
}

function refuseOthers(given: JsonObject, known: readonly string[], at: string): void {
  const other = Object.keys(given).find((name) => !known.includes(name));
  if (other !== undefined)
    throw new RequestFault(`${at} has no member ${other.slice(0, 100)}; there are ${known.join(", ")}`);
}
