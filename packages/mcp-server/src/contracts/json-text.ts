import { inspect } from "node:util";

/**
 * The same text for the same JSON, whatever the order of members and wherever the objects were made (test runners have realms of their own, where
 * `deepStrictEqual` tells equal objects apart). Members that are undefined count as absent; what is no JSON is shown as what it is.
 */
export function textOfJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOfJson).join(",")}]`;
  if (typeof value === "string") return JSON.stringify(value);
  if (!isPlainObject(value)) return inspect(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${textOfJson(member)}`).join(",")}}`;
}

/** A value for a person to read, in bounded length. */
export function showJson(value: unknown, maxLength = 4_000): string {
  const shown = inspect(value, {
    breakLength: Number.POSITIVE_INFINITY,
    depth: 6,
    maxArrayLength: 60,
    maxStringLength: 200,
  });
  return shown.length > maxLength ? `${shown.slice(0, maxLength)}…` : shown;
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
