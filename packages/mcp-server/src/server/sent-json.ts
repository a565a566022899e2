import type { JsonValue } from "@berth/jsonrpc-framing";
import { isObject } from "../json.js";

/**
 * A value as JSON will send it: itself when it is plain JSON, else a copy with what JSON makes of NaN, dates, `toJSON` and members that are undefined.
 * @throws {TypeError} for what JSON cannot write.
 */
export function sentJson(value: unknown): JsonValue {
  if (isPlain(value, 0)) return value;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new TypeError("it cannot be written as JSON", { cause: error }); // a cycle, a bigint, too deep for the stack
  }
  if (text === undefined) throw new TypeError(`a ${typeof value} is no JSON`);
  return JSON.parse(text);
}

/** Deeper is left to JSON.stringify: plain or not, or a cycle. */
const maxDepth = 256;

/** Whether JSON.parse would give back just this. Members are read, own getters among them. Runs over each structured result: no copies are made. */
function isPlain(value: unknown, depth: number): value is JsonValue {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      return value === null || (depth < maxDepth && isPlainTree(value, depth + 1));
    default:
      return false;
  }
}

function isPlainTree(value: object, depth: number): boolean {
  if ("toJSON" in value) return false;
  if (Array.isArray(value)) {
    // By index: a hole, which JSON fills with null, is undefined.
    for (let index = 0; index < value.length; index++) if (!isPlain(value[index], depth)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return isObject(value) && areMembersPlain(value, depth);
}

function areMembersPlain(value: Readonly<Record<string, unknown>>, depth: number): boolean {
  for (const name in value) if (!isPlain(value[name], depth)) return false;
  return true;
}
