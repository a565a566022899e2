import { randomUUID } from "node:crypto";
import { copyJsonObject, isJsonObject, type JsonBounds } from "../bounded-json.js";
import { PluginHostError } from "../errors.js";
import type { JsonObject, JsonValue } from "../json.js";
import type { GlobalContext } from "../plugin-call.js";
import type { HookRequest } from "../plugin-host.js";
import type { Redactor } from "../redact.js";

const MAX_REQUEST_ID_CHARS = 200;
const MAX_CONTENT_TYPE_CHARS = 200;
const PRINTABLE = /^[\P{C}]*$/u;

/**
 * The context of a request as plugins are shown it: a frozen copy, with placeholders for tokens.
 * @throws {PluginHostError} `PAYLOAD_INVALID`. Also for a content type that a worker would refuse: left out, a condition on
 * it would not hold, and a policy would be passed by.
 */
export function takeContext(
  given: HookRequest["globalContext"],
  bounds: JsonBounds,
  redactor: Redactor,
): GlobalContext {
  const refuse = (fault: string): PluginHostError => new PluginHostError("PAYLOAD_INVALID", `globalContext ${fault}`);
  const copy = copyJsonObject(given, { bounds, refuse, text: redactor.isIdle ? undefined : redactor.text });
  const text = (name: string): string | undefined => readText(copy, name, refuse);
  const object = (name: string): JsonObject | undefined => readObject(copy, name, refuse);
  const state = object("state") ?? {};
  const contentType = text("contentType");
  if (contentType !== undefined && !isContentType(contentType))
    throw refuse("has a contentType that is unprintable or long");
  const requestId = text("requestId") ?? requestIdIn(state) ?? randomUUID();
  if (requestId === "" || requestId.length > MAX_REQUEST_ID_CHARS)
    throw refuse("has a requestId that is empty or long");
  return Object.freeze({
    requestId,
    user: readUser(copy["user"], refuse),
    userContext: object("userContext"),
    tenantId: text("tenantId"),
    serverId: text("serverId"),
    contentType,
    state,
    metadata: object("metadata") ?? {},
  });
}

function readText(members: JsonObject, name: string, refuse: (fault: string) => Error): string | undefined {
  const value = members[name] ?? undefined;
  if (value === undefined || typeof value === "string") return value;
  throw refuse(`has a ${name} that is no text`);
}

function readObject(members: JsonObject, name: string, refuse: (fault: string) => Error): JsonObject | undefined {
  const value = members[name] ?? undefined;
  if (value === undefined || isJsonObject(value)) return value;
  throw refuse(`has a ${name} that is no object`);
}

function readUser(value: JsonValue | undefined, refuse: (fault: string) => Error): string | JsonObject | undefined {
  const user = value ?? undefined;
  if (user === undefined || typeof user === "string" || isJsonObject(user)) return user;
  throw refuse("has a user that is neither text nor object");
}

function requestIdIn(state: JsonObject): string | undefined {
  const { request_id: id } = state;
  return typeof id === "string" && id !== "" ? id : undefined;
}

function isContentType(text: string): boolean {
  return text.length <= MAX_CONTENT_TYPE_CHARS && PRINTABLE.test(text);
}
