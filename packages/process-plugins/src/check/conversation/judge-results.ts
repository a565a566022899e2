import type { JsonObject } from "@berth/jsonrpc-framing";
import { escapeText } from "../../pipe/escape-text.js";
import { isJsonObject } from "./turn.js";

/** What is wrong in a result, the end of a sentence; undefined when nothing is. */
export type Judge = (result: JsonObject) => string | undefined;

/** MCP's rule for names of tools (2026-07-28). */
const toolName = /^[A-Za-z0-9_.-]{1,128}$/;
const maxShown = 100;

/** `resultType` of any result of MCP. */
export const judgeType: Judge = ({ resultType }) => {
  if (resultType === "complete" || resultType === "input_required") return undefined;
  return resultType === undefined ? "resultType is missing" : `resultType is ${shown(resultType)}, not "complete"`;
};

/** Lists and `server/discover` say how long they may be kept, and by whom; none of them asks back. */
export const judgeCached: Judge = ({ resultType, ttlMs, cacheScope }) => {
  if (typeof ttlMs !== "number") return "ttlMs is no number";
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 0) return `ttlMs is ${ttlMs}, and no whole number from 0`;
  if (cacheScope !== "public" && cacheScope !== "private") {
    return `cacheScope is ${shown(cacheScope)}, neither "public" nor "private"`;
  }
  return resultType === "input_required" ? 'resultType is "input_required"' : judgeType({ resultType });
};

/** Names by which a client can call, each once, with a schema. */
export const judgeTools: Judge = (result) => {
  const { tools } = result;
  if (!Array.isArray(tools)) return "tools is no array";
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const wrong = judgeTool(tool, names);
    if (wrong !== undefined) return `tools[${index}] ${wrong}`;
  }
  return judgeCached(result);
};

function judgeTool(tool: unknown, names: Set<string>): string | undefined {
  const { name, inputSchema } = isJsonObject(tool) ? tool : {};
  if (typeof name !== "string" || !isJsonObject(inputSchema)) return "has no name, or no inputSchema";
  if (!toolName.test(name)) return `is named ${shown(name)}: a name is 1 to 128 of A-Z a-z 0-9 _ - .`;
  if (names.has(name)) return `is named ${shown(name)}, as one before it`;
  names.add(name);
  return inputSchema["type"] === "object" ? undefined : `has an inputSchema whose type is not "object"`;
}

/** A tool's result: one that asks back has no content yet. */
export const judgeToolResult: Judge = (result) => {
  if (result["resultType"] === "input_required") return undefined;
  return Array.isArray(result["content"]) ? judgeType(result) : "content is no array";
};

/** The answer of a hook (PROTOCOL.md § 4). Null is as absent, as Python writes it; what says nothing goes on. */
export const judgeHook: Judge = ({ continue_processing: goesOn, modified_payload: payload, violation }) => {
  if (!isAbsent(goesOn) && typeof goesOn !== "boolean") return "continue_processing is neither true nor false";
  if (!isAbsent(payload) && !isJsonObject(payload)) return "modified_payload is no object";
  if (isAbsent(violation)) return undefined;
  if (!isJsonObject(violation)) return "violation is no object";
  const text = ["reason", "description", "code"].find((name) => typeof violation[name] !== "string");
  if (text !== undefined) return `violation.${text} is no text`;
  const { details } = violation;
  return isAbsent(details) || isJsonObject(details) ? undefined : "violation.details is no object";
};

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** A value of the plugin, cut, with what a terminal would obey made visible. */
export function shown(value: unknown): string {
  return escapeText((JSON.stringify(value) ?? "nothing").slice(0, maxShown));
}
