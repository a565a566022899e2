import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "./json.js";

/** How much JSON one payload, context, extension or reply may be. */
export interface JsonBounds {
  readonly maxDepth: number;
  readonly maxValues: number;
  readonly maxTextChars: number;
}

/** How to copy. */
export interface CopyOptions {
  readonly bounds: JsonBounds;
  /** Makes the error that is thrown; told what is wrong, without values. */
  readonly refuse: (fault: string) => Error;
  /** Applied to each string and each name. */
  readonly text?: ((text: string) => string) | undefined;
}

/**
 * A frozen copy, so that neither the giver nor a plugin of this process changes later what others are shown. Members that
 * are undefined are left out; what JSON cannot say is refused.
 */
export function copyJson(value: unknown, options: CopyOptions): JsonValue {
  return createCopier(options)(value, 1);
}

/** As copyJson, for what must be an object. */
export function copyJsonObject(value: unknown, options: CopyOptions): JsonObject {
  const copy = copyJson(value, options);
  if (!isJsonObject(copy)) throw options.refuse("is not an object");
  return copy;
}

function createCopier({ bounds, refuse, text }: CopyOptions): (value: unknown, depth: number) => JsonValue {
  let values = 0;
  let chars = 0;
  const copyText = (given: string): string => {
    chars += given.length;
    if (chars > bounds.maxTextChars) throw refuse(`holds more than ${bounds.maxTextChars} characters`);
    return text === undefined ? given : text(given);
  };
  const copyMembers = (given: Readonly<Record<string, unknown>>, depth: number): JsonObject => {
    const copy: Record<string, JsonValue> = {};
    for (const name of Object.keys(given)) {
      const member = given[name];
      if (member !== undefined) setMember(copy, copyText(name), copyValue(member, depth + 1));
    }
    return Object.freeze(copy);
  };
  // By index: `map` would leave the holes of a sparse list as they are.
  const copyItems = (given: readonly unknown[], depth: number): readonly JsonValue[] => {
    if (given.length > bounds.maxValues) throw refuse(`holds more than ${bounds.maxValues} values`);
    return Object.freeze(Array.from(given, (item) => copyValue(item, depth + 1)));
  };
  const copyValue = (given: unknown, depth: number): JsonValue => {
    values += 1;
    if (values > bounds.maxValues) throw refuse(`holds more than ${bounds.maxValues} values`);
    if (given === null || typeof given === "boolean") return given;
    if (typeof given === "string") return copyText(given);
    if (typeof given === "number" && Number.isFinite(given)) return given;
    if (depth > bounds.maxDepth) throw refuse(`is nested deeper than ${bounds.maxDepth} levels`);
    if (Array.isArray(given)) return copyItems(given, depth);
    if (isPlainRecord(given)) return copyMembers(given, depth);
    throw refuse(`holds what JSON cannot say (${typeof given})`);
  };
  return copyValue;
}

/** Sets an own member whatever its name: plain assignment of `__proto__` would change the object's prototype. */
export function setMember<T>(target: Record<string, T>, name: string, value: T): void {
  if (name !== "__proto__") target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}

/** The own member of that name; what the prototype has does not count. */
export function ownMember<T>(object: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Earlier members, and later ones over them. */
export function mergeMembers(earlier: JsonObject, later: JsonObject | undefined): JsonObject {
  return later === undefined || Object.keys(later).length === 0 ? earlier : Object.freeze({ ...earlier, ...later });
}

/** Whether a JSON value is an object. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is an object with members and no class of its own. */
export function isPlainRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Whether two values say the same, whatever the order of members. */
export function isSameJson(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return one === other || isDeepStrictEqual(one, other);
}
