import { isPlainRecord } from "../bounded-json.js";
import type { JsonObject } from "../json.js";
import type { GlobalContext } from "../plugin-call.js";
import type { PluginCondition } from "../plugin-config.js";
import { type HookForm, namedIn } from "./hook-forms.js";

/** Whether a plugin is asked: one of its conditions holds, or it has none. */
export function isAsked(
  conditions: readonly PluginCondition[],
  form: HookForm,
  payload: JsonObject,
  context: GlobalContext,
): boolean {
  return conditions.length === 0 || conditions.some((condition) => holds(condition, form, payload, context));
}

/** Each list that a condition has names the request's value; an empty list is no list. */
function holds(condition: PluginCondition, form: HookForm, payload: JsonObject, context: GlobalContext): boolean {
  const { serverIds, tenantIds, contentTypes, userPatterns } = condition;
  return (
    (isAbsent(serverIds) || lists(serverIds, context.serverId)) &&
    (isAbsent(tenantIds) || lists(tenantIds, context.tenantId)) &&
    (isAbsent(contentTypes) || lists(contentTypes.map(baseType), baseType(context.contentType ?? ""))) &&
    (isAbsent(userPatterns) || matchesUser(userPatterns, context.user)) &&
    namesPayload(condition, form, payload)
  );
}

/** A payload without the name is asked about: a policy is not to be slipped past by leaving its subject out. */
function namesPayload(condition: PluginCondition, form: HookForm, payload: JsonObject): boolean {
  const names = form.named === undefined ? undefined : condition[form.named.by];
  if (isAbsent(names)) return true;
  const value = namedIn(form, payload);
  return value === undefined || names.includes(value);
}

function isAbsent(list: readonly string[] | undefined): list is undefined {
  return list === undefined || list.length === 0;
}

function lists(list: readonly string[], value: string | undefined): boolean {
  return value !== undefined && value !== "" && list.includes(value);
}

/** The media type without its parameters. */
function baseType(contentType: string): string {
  return (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
}

/** A pattern is text that a user's name contains; of a structured user, any of its texts. */
function matchesUser(patterns: readonly string[], user: string | JsonObject | undefined): boolean {
  const names = isPlainRecord(user) ? Object.values(user) : [user];
  return names.some((name) => typeof name === "string" && patterns.some((pattern) => name.includes(pattern)));
}
