import type { JsonArray, JsonObject, JsonValue } from "@berth/jsonrpc-framing";

/**
 * An object whose type is an interface, where JSON is wanted: TypeScript does not see that such a type has no members but its own, so it is no `JsonObject`. What
 * JSON writes as something else (functions, dates, maps and other iterables) is none; members are not looked at.
 */
export type PlainObject = object & {
  readonly bind?: never;
  readonly toJSON?: never;
  readonly [Symbol.iterator]?: never;
};

/** What can be given where JSON is sent: any JSON value, or objects and arrays of interfaces. */
export type JsonLike = JsonValue | PlainObject | readonly JsonLike[];

/** Whether a value is a JSON object: neither null nor an array. Trusts that what is below it is JSON as well. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A copy as JSON would write it: without undefined members, and nobody else's to change. */
export function toJson(value: object): JsonObject {
  const json: JsonObject = JSON.parse(JSON.stringify(value));
  return json;
}

/** Freezes a JSON value all the way down. Recursion is bounded: a message is at most 128 levels deep. */
export function deepFreeze<T extends JsonValue>(value: T): T {
  if (typeof value === "object" && value !== null) freezeTree(value);
  return value;
}

function freezeTree(node: JsonObject | JsonArray): void {
  Object.freeze(node);
  if (isArray(node)) {
    for (const child of node) if (typeof child === "object" && child !== null) freezeTree(child);
    return;
  }
  for (const key in node) {
    const child = node[key];
    if (typeof child === "object" && child !== null) freezeTree(child);
  }
}

function isArray(node: JsonObject | JsonArray): node is JsonArray {
  return Array.isArray(node);
}
