import { ChainError } from "./errors.js";
import type { JsonValue } from "./json-value.js";
import { type MemberOrder, memberOrder } from "./member-order.js";

/** What one use of the serializer allows. */
export interface CanonicalRules {
  /** Levels of arrays and objects. Also what ends a cycle. */
  readonly maxDepth: number;
  /** A member name that is refused at every level. */
  readonly refusedMember?: string;
  /** Default: sorts anew each time. See member-order.ts. */
  readonly orderOf?: (names: readonly string[]) => MemberOrder;
}

type Members = Readonly<Record<string, unknown>>;

const general: CanonicalRules = { maxDepth: 64 };

/**
 * RFC 8785 canonical form, of I-JSON (RFC 7493) only: refuses what two readers could read differently.
 * Members that are `undefined` are left out.
 * @throws {ChainError} `NOT_I_JSON` for a number that is not finite, -0, an integer beyond 2^53 - 1, a lone surrogate,
 *   more than 64 levels, or a value that JSON has not.
 */
export function canonicalJson(value: JsonValue): string {
  return canonicalText(value, general);
}

/** `canonicalJson` under other rules, for values whose type nobody has checked. */
export function canonicalText(value: unknown, rules: CanonicalRules): string {
  return valueText(value, "value", rules.maxDepth, rules);
}

// `where` is the nearest member name, for messages: a whole path would cost on every value.
function valueText(value: unknown, where: string, depth: number, rules: CanonicalRules): string {
  switch (typeof value) {
    case "string":
      return stringText(value, where);
    case "number":
      return numberText(value, where);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth === 0) throw refused(where, `more than ${rules.maxDepth} levels`);
      if (Array.isArray(value)) return arrayText(value, where, depth - 1, rules);
      if (!isPlain(value)) throw refused(where, "an object that is not plain");
      return objectText(value, depth - 1, rules);
    default:
      throw refused(where, `a value of type ${typeof value}`);
  }
}

function arrayText(items: readonly unknown[], where: string, depth: number, rules: CanonicalRules): string {
  let text = "";
  // By index: a hole reads as undefined and is refused, where an iteration method would pass over it.
  for (let index = 0; index < items.length; index += 1) {
    text += (index === 0 ? "" : ",") + valueText(items[index], where, depth, rules);
  }
  return `[${text}]`;
}

function objectText(members: Members, depth: number, rules: CanonicalRules): string {
  const order = (rules.orderOf ?? memberOrder)(Object.keys(members));
  return (order.isNative ? flatText(members, order) : undefined) ?? `{${membersText(members, order, depth, rules)}}`;
}

/**
 * By the engine's own serializer, which does the same to text, numbers, booleans and null (RFC 8785 § 3.2.2) and makes one string
 * where joining makes dozens. Undefined when a value is none of these, or not I-JSON.
 */
function flatText(members: Members, order: MemberOrder): string | undefined {
  const ordered: Record<string, unknown> = {};
  for (const { name } of order.places) {
    const value = members[name];
    if (value === undefined) continue;
    if (!isFlat(value)) return undefined;
    ordered[name] = value;
  }
  return JSON.stringify(ordered);
}

function isFlat(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value === "number") return isIJsonNumber(value);
  return typeof value === "boolean" || value === null;
}

function membersText(members: Members, order: MemberOrder, depth: number, rules: CanonicalRules): string {
  let text = "";
  for (const { name, begins, follows } of order.places) {
    const value = members[name];
    if (value === undefined) continue;
    if (name === rules.refusedMember) throw refused(name, "this member name");
    if (begins === undefined) throw refused(name, "a lone surrogate");
    text += (text === "" ? begins : follows) + valueText(value, name, depth, rules);
  }
  return text;
}

const plainAscii = /^[ !#-[\]-~]*$/;
// With the u flag this class matches lone surrogates only, never half of a pair.
const loneSurrogate = /[\ud800-\udfff]/u;

function stringText(value: string, where: string): string {
  if (plainAscii.test(value)) return `"${value}"`;
  if (loneSurrogate.test(value)) throw refused(where, "a lone surrogate");
  // RFC 8785 § 3.2.2.2 is what ECMAScript's JSON.stringify does to a well-formed string.
  return JSON.stringify(value);
}

function isIJsonNumber(value: number): boolean {
  if (Number.isInteger(value)) return Number.isSafeInteger(value) && !Object.is(value, -0);
  return Number.isFinite(value);
}

function numberText(value: number, where: string): string {
  if (!Number.isFinite(value)) throw refused(where, `the number ${value}`);
  if (value === 0 && Object.is(value, -0)) throw refused(where, "the number -0");
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw refused(where, `the integer ${value}, beyond 2^53`);
  return String(value);
}

/** Whether an object is an object literal, of any realm, and not a Date, a Map or an instance of some class. */
function isPlain(value: object): value is Members {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || isRoot(prototype);
}

function isRoot(prototype: unknown): boolean {
  return typeof prototype === "object" && prototype !== null && Object.getPrototypeOf(prototype) === null;
}

function refused(where: string, what: string): ChainError {
  return new ChainError("NOT_I_JSON", `${JSON.stringify(where.slice(0, 100))} holds ${what}, which is not I-JSON`);
}
