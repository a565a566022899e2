import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { LimitReached, type Run } from "./run.js";

/** An object of a schema or an instance; only own members count, so that `__proto__` and `constructor` are plain names. */
export type Members = Readonly<Record<string, unknown>>;

export function isObject(value: JsonValue | undefined): value is JsonObject;
export function isObject(value: unknown): value is Members;
export function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isArray(value: JsonValue | undefined): value is readonly JsonValue[];
export function isArray(value: unknown): value is readonly unknown[];
export function isArray(value: unknown): boolean {
  return Array.isArray(value);
}

/** Whether an object has a member: its own, and not `undefined`, which JSON cannot say. */
export function hasMember(object: Members, name: string): boolean {
  return Object.hasOwn(object, name) && object[name] !== undefined;
}

/** Listing a member's name and making a key of a value take about so many times a plain step. */
const nameSteps = 4;
const keySteps = 4;

/** The names of an object's members, paid for before they are looked at: a schema may ask for them again and again. */
export function memberNames(object: Members, run: Run): readonly string[] {
  const names = Object.keys(object);
  run.spend(nameSteps * names.length);
  return names.every((name) => object[name] !== undefined) ? names : names.filter((name) => object[name] !== undefined);
}

/** Strings cost a step for each 64 units to compare or count. */
function textCost(text: string): number {
  return 1 + (text.length >> 6);
}

/** Equality of JSON Schema (Core § 4.2.2): numbers by value, objects in any order. Paid for by the values looked at. */
export function isEqual(a: unknown, b: unknown, run: Run): boolean {
  run.spend(typeof a === "string" ? textCost(a) : 1);
  if (a === b) return true;
  if (isArray(a)) return isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index], run));
  if (!isObject(a) || !isObject(b)) return false;
  const names = memberNames(a, run);
  return (
    names.length === memberNames(b, run).length &&
    names.every((name) => hasMember(b, name) && isEqual(a[name], b[name], run))
  );
}

/**
 * A text that is the same for equal values only: canonical JSON. Lets `uniqueItems` find a twin by a set's look-up
 * instead of comparing each pair. `depthLeft`: levels below that may be entered.
 */
export function equalityKey(value: unknown, run: Run, depthLeft: number): string {
  if (typeof value === "string") {
    run.spend(keySteps * textCost(value));
    return JSON.stringify(value);
  }
  run.spend(keySteps);
  if (typeof value !== "object" || value === null) return value === 0 ? "0" : String(value);
  if (depthLeft <= 0) throw new LimitReached("maxInstanceDepth");
  if (isArray(value)) return `[${value.map((item) => equalityKey(item, run, depthLeft - 1)).join(",")}]`;
  if (!isObject(value)) return "";
  const names = memberNames(value, run);
  run.spend(names.length * Math.ceil(Math.log2(names.length + 1)));
  const members = names
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${equalityKey(value[name], run, depthLeft - 1)}`);
  return `{${members.join(",")}}`;
}

/** Length in code points, as `minLength` and `maxLength` count it. */
export function countCodePoints(text: string, run: Run): number {
  run.spend(text.length >> 4);
  let pairs = 0;
  for (let index = 0; index < text.length - 1; index += 1) {
    if ((text.charCodeAt(index) & 0xfc00) !== 0xd800 || (text.charCodeAt(index + 1) & 0xfc00) !== 0xdc00) continue;
    pairs += 1;
    index += 1;
  }
  return text.length - pairs;
}
