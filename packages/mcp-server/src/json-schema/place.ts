import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { type SchemaErrorCode, schemaFault } from "./errors.js";
import type { Node } from "./node.js";
import type { TextTest } from "./pattern/patterns.js";
import { pointerTo } from "./pointer.js";
import type { Location } from "./resources.js";
import { isArray, isObject } from "./values.js";

/** A schema being compiled, as the keywords' builders see it. */
export interface Place {
  readonly location: Location;
  /** The value of a keyword that the schema's dialect knows; else undefined. */
  read(keyword: string): JsonValue | undefined;
  /** The node of a schema below this one, in a keyword and at further tokens. */
  node(schema: JsonValue, keyword: string, ...tokens: readonly (string | number)[]): Node;
  /** The node that a reference in this keyword names, and the place it stands at. */
  target(reference: string, keyword: string): { readonly node: Node; readonly location: Location };
  /** The node of a place found by `target`, or by a dynamic anchor. */
  nodeAt(location: Location): Node;
  pattern(source: string, ...tokens: readonly (string | number)[]): TextTest;
}

function refuse(place: Place, keyword: string, what: string, code: SchemaErrorCode = "SCHEMA_INVALID"): never {
  throw schemaFault(code, pointerTo(place.location.pointer, keyword), what);
}

/** A count: a whole number, not negative; `5.0` is one. */
export function readCount(place: Place, keyword: string): number | undefined {
  const value = place.read(keyword);
  if (value === undefined || (typeof value === "number" && Number.isInteger(value) && value >= 0)) return value;
  return refuse(place, keyword, "must be a whole number, not negative");
}

export function readNumber(place: Place, keyword: string): number | undefined {
  const value = place.read(keyword);
  return value === undefined || typeof value === "number" ? value : refuse(place, keyword, "must be a number");
}

export function readText(place: Place, keyword: string): string | undefined {
  const value = place.read(keyword);
  return value === undefined || typeof value === "string" ? value : refuse(place, keyword, "must be a string");
}

export function readFlag(place: Place, keyword: string): boolean {
  const value = place.read(keyword);
  if (value === undefined) return false;
  return typeof value === "boolean" ? value : refuse(place, keyword, "must be true or false");
}

/** A list of different names. */
export function readNames(place: Place, keyword: string): readonly string[] | undefined {
  const value = place.read(keyword);
  return value === undefined ? undefined : readNameList(place, keyword, value);
}

/** A map from names to lists of names. */
export function readNameLists(place: Place, keyword: string): ReadonlyMap<string, readonly string[]> | undefined {
  const value = readMap(place, keyword);
  return value && new Map(definedEntries(value).map(([name, list]) => [name, readNameList(place, keyword, list)]));
}

function readNameList(place: Place, keyword: string, value: JsonValue): readonly string[] {
  if (!isArray(value)) return refuse(place, keyword, "must be a list of names");
  const names = value.filter((name) => typeof name === "string");
  if (names.length !== value.length || new Set(names).size !== names.length)
    refuse(place, keyword, "must be a list of different names");
  return names;
}

export function readNode(place: Place, keyword: string): Node | undefined {
  const value = place.read(keyword);
  return value === undefined ? undefined : place.node(value, keyword);
}

export function readNodes(place: Place, keyword: string): readonly Node[] | undefined {
  const value = place.read(keyword);
  if (value === undefined) return undefined;
  if (!isArray(value) || value.length === 0) return refuse(place, keyword, "must be a list of schemas, not empty");
  return value.map((schema, index) => place.node(schema, keyword, index));
}

export function readNodeMap(place: Place, keyword: string): ReadonlyMap<string, Node> | undefined {
  const value = readMap(place, keyword);
  return value && new Map(definedEntries(value).map(([name, schema]) => [name, place.node(schema, keyword, name)]));
}

/** Schemas by pattern, with the pattern compiled. */
export function readPatternMap(place: Place, keyword: string): readonly (readonly [TextTest, Node])[] {
  const value = readMap(place, keyword) ?? {};
  return definedEntries(value).map(([name, schema]) => [
    place.pattern(name, keyword, name),
    place.node(schema, keyword, name),
  ]);
}

export function readList(place: Place, keyword: string): readonly JsonValue[] | undefined {
  const value = place.read(keyword);
  return value === undefined || isArray(value) ? value : refuse(place, keyword, "must be a list");
}

/** One of the simple types of JSON, or several. */
export function readTypes(place: Place): ReadonlySet<string> | undefined {
  const value = place.read("type");
  if (value === undefined) return undefined;
  const names = readNameList(place, "type", isArray(value) ? value : [value]);
  const known = ["null", "boolean", "object", "array", "number", "string", "integer"];
  if (names.length === 0 || !names.every((name) => known.includes(name)))
    refuse(place, "type", `must be of ${known.join(", ")}`);
  return new Set(names);
}

/** Members by name, which may have been read as schemas before. */
export function readMap(place: Place, keyword: string): JsonObject | undefined {
  const value = place.read(keyword);
  return value === undefined || isObject(value) ? value : refuse(place, keyword, "must be an object");
}

function definedEntries(map: JsonObject): readonly (readonly [string, JsonValue])[] {
  return Object.entries(map).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}
