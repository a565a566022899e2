import { type InterceptionRefusal, visibleText } from "@berth/mcp-relay";
import type { HookOutcome, JsonObject, JsonValue, PluginHostError } from "@berth/venv-host/executor";
import { isList, isObject } from "./hook-forms.js";

/** What a client is told of a deny at most. */
const limits = { reasonChars: 500, descriptionChars: 2_000, codeChars: 100, detailsBytes: 4_096 } as const;
const notRecorded = -32_603;

/** The error for a call that a hook denies; undefined when it does not. Why a plugin failed is not for clients. */
export function refusalOf(
  { allowed, violation, executions }: HookOutcome,
  hook: string,
): InterceptionRefusal | undefined {
  if (allowed) return undefined;
  if (violation === undefined) return unusable(hook);
  const { plugin } = violation;
  const code = shown(violation.code, limits.codeChars);
  const status = executions.find((one) => one.plugin === plugin && one.status !== "skipped")?.status;
  if (status === "failed" || status === "timed_out") {
    const what = status === "failed" ? "failed" : "did not answer in time";
    const error = violation.details["error"];
    return {
      kind: "refuse",
      reason: "HOOK_FAILED",
      message: `the call is refused, since plugin ${JSON.stringify(shown(plugin, limits.codeChars))} ${what}`,
      data: { plugin, hook, code, details: typeof error === "string" ? { error } : {} },
    };
  }
  const reason = shown(violation.reason, limits.reasonChars);
  return {
    kind: "refuse",
    reason: "HOOK_DENIED",
    message: `plugin ${JSON.stringify(shown(plugin, limits.codeChars))} denies the call: ${reason}`,
    data: {
      plugin,
      hook,
      code,
      denial: reason,
      description: violation.description === "" ? undefined : shown(violation.description, limits.descriptionChars),
      mcpErrorCode: violation.mcpErrorCode,
      ...shownDetails(violation.details),
    },
  };
}

/** The error for a call whose hook could not be run. */
export function failureOf({ code, message }: PluginHostError, hook: string): InterceptionRefusal {
  switch (code) {
    case "DECISION_NOT_RECORDED": {
      const text = "what a plugin decided could not be recorded, and so the call was not let through";
      return { kind: "refuse", code: notRecorded, reason: "NOT_RECORDED", message: text, data: { hook } };
    }
    case "PAYLOAD_INVALID": {
      const text = `the call cannot be shown to plugins: ${shown(message, limits.reasonChars)}`;
      return { kind: "refuse", reason: "HOOK_PAYLOAD_INVALID", message: text, data: { hook } };
    }
    default:
      return {
        kind: "refuse",
        reason: "HOOK_FAILED",
        message: "the call could not be shown to plugins",
        data: { hook, code },
      };
  }
}

/** The error for what plugins made of a call, when it is none any more. */
export function unusable(hook: string): InterceptionRefusal {
  const message = "the call is refused, since what plugins made of it cannot be used";
  return { kind: "refuse", reason: "HOOK_FAILED", message, data: { hook, code: "PROTOCOL_ERROR" } };
}

/** Plugins write for people: nothing of it may act on a terminal or be without end. */
function shown(text: string, maxChars: number): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
  return visibleText(cut);
}

function shownDetails(details: JsonObject): { readonly details?: JsonValue; readonly detailsOmitted?: boolean } {
  const told = shownValue(details);
  return Buffer.byteLength(JSON.stringify(told)) > limits.detailsBytes ? { detailsOmitted: true } : { details: told };
}

function shownValue(value: JsonValue): JsonValue {
  if (typeof value === "string") return visibleText(value);
  if (isList(value)) return value.map(shownValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [visibleText(name), shownValue(member)]));
}
