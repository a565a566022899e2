import type { JsonValue } from "@berth/jsonrpc-framing";

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

/** Whether JSON.parse would give back just this. Elements and members are read, own getters among them. */
function isPlain(value: unknown, depth: number): value is JsonValue {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth > maxDepth || "toJSON" in value) return false;
  if (Array.isArray(value)) return areAllPlain(value, depth + 1);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return areAllPlain(Object.values(value), depth + 1);
}

/** Also finds the holes of a sparse array, which JSON fills with null. */
function areAllPlain(values: readonly unknown[], depth: number): boolean {
  for (let index = 0; index < values.length; index++) if (!isPlain(values[index], depth)) return false;
  return true;
}
