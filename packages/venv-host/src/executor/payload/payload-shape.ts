import { isJsonObject } from "../bounded-json.js";
import { readHeaderMap } from "../extensions/header-map.js";
import type { JsonObject, JsonValue } from "../json.js";

/** What a member of a payload must be. */
export type MemberKind =
  | "any"
  | "text"
  | "whole"
  | "flag"
  | "object"
  | "list"
  | "texts"
  | "textMap"
  | "headers"
  | "message"
  | "subject";

/** The members of a payload that are checked; others are kept as they come, since newer frameworks add some. */
export interface PayloadShape {
  readonly required: Readonly<Record<string, MemberKind>>;
  /** Null counts as absent. */
  readonly optional: Readonly<Record<string, MemberKind>>;
}

/** A payload without its null optionals, or what is wrong with it. */
export type ShapeReading =
  | { readonly ok: true; readonly payload: JsonObject }
  | { readonly ok: false; readonly fault: string };

/** Holds a payload against a shape. */
export function readShape(shape: PayloadShape, payload: JsonObject): ShapeReading {
  for (const [name, kind] of Object.entries(shape.required)) {
    if (!Object.hasOwn(payload, name)) return { ok: false, fault: `${name} is missing` };
    const fault = faultOfMember(kind, payload[name]);
    if (fault !== undefined) return { ok: false, fault: `${name} ${fault}` };
  }
  const absent = new Set<string>();
  for (const [name, kind] of Object.entries(shape.optional)) {
    if (!Object.hasOwn(payload, name)) continue;
    if (payload[name] === null) {
      absent.add(name);
      continue;
    }
    const fault = faultOfMember(kind, payload[name]);
    if (fault !== undefined) return { ok: false, fault: `${name} ${fault}` };
  }
  return { ok: true, payload: absent.size === 0 ? payload : without(payload, absent) };
}

function without(payload: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.freeze(Object.fromEntries(Object.entries(payload).filter(([name]) => !names.has(name))));
}

function faultOfMember(kind: MemberKind, value: JsonValue | undefined): string | undefined {
  if (value === undefined) return "is missing";
  switch (kind) {
    case "any":
      return undefined;
    case "text":
      return typeof value === "string" ? undefined : "is no text";
    case "whole":
      return typeof value === "number" && Number.isSafeInteger(value) ? undefined : "is no whole number";
    case "flag":
      return typeof value === "boolean" ? undefined : "is neither true nor false";
    case "object":
      return isJsonObject(value) ? undefined : "is no object";
    case "list":
      return Array.isArray(value) ? undefined : "is no list";
    case "texts":
      return Array.isArray(value) && value.every((item) => typeof item === "string")
        ? undefined
        : "is no list of texts";
    case "textMap":
      return isJsonObject(value) && Object.values(value).every((item) => typeof item === "string")
        ? undefined
        : "is no object of texts";
    case "headers":
      return faultOfHeaders(value);
    case "message":
      return faultOfMessage(value);
    case "subject":
      return faultOfSubject(value);
  }
}

function faultOfHeaders(value: JsonValue): string | undefined {
  const reading = readHeaderMap(value);
  return reading.ok ? undefined : reading.fault;
}

/** CMF: who speaks, and parts that each say what they are. */
function faultOfMessage(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return "is no object";
  if (typeof value["role"] !== "string") return "has no role";
  const content = value["content"] ?? [];
  if (!Array.isArray(content)) return "has a content that is no list";
  return content.every(isPart) ? undefined : "has a part without content_type";
}

function isPart(part: JsonValue): boolean {
  return isJsonObject(part) && typeof part["content_type"] === "string";
}

function faultOfSubject(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return "is no object";
  return typeof value["id"] === "string" && typeof value["type"] === "string" ? undefined : "has no id and type";
}
