import type { JsonValue as FrameValue } from "@berth/jsonrpc-framing";
import type { Extensions, HookRequest, JsonObject, JsonValue, RawCredentials } from "@berth/venv-host/executor";
import { readCredentials } from "./credentials.js";
import { readExtensions } from "./extensions.js";
import { objectOf, RequestFault, refuseOthers } from "./json-members.js";

/** A request to run a hook, as a document says it. */
export interface AskedHook {
  readonly hook: string;
  readonly payload: JsonObject;
  readonly globalContext: HookRequest["globalContext"];
  readonly extensions: Extensions | undefined;
  readonly credentials: RawCredentials | undefined;
  /** The name of what plugins noted in the hook before. */
  readonly carried: string | undefined;
}

const members = ["hook", "payload", "context", "extensions", "credentials", "carried"];
const contextMembers = ["requestId", "user", "userContext", "tenantId", "serverId", "contentType", "state", "metadata"];

/** Reads the parameters of `hooks/invoke`. A misspelled member is a fault: left out in silence, a policy could be passed by. */
export function readAskedHook(value: FrameValue | JsonValue | undefined): AskedHook {
  const params = objectOf(value, "params");
  refuseOthers(params, members, "params");
  const { hook, payload, context, extensions, credentials } = params;
  const carried = params["carried"] ?? undefined;
  if (typeof hook !== "string") throw new RequestFault("hook has to be the name of a hook");
  if (carried !== undefined && typeof carried !== "string") throw new RequestFault("carried has to be a text");
  return {
    hook,
    payload: objectOf(payload, "payload"),
    globalContext: readContext(context),
    extensions: readExtensions(extensions),
    credentials: readCredentials(credentials),
    carried,
  };
}

/** The context of a request; the executor checks its values. */
export function readContext(value: JsonValue | undefined): HookRequest["globalContext"] {
  const context = value === undefined || value === null ? {} : objectOf(value, "context");
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
