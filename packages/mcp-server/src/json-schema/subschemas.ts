import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { pointerTo } from "./pointer.js";
import { isArray, isObject } from "./values.js";

/** A schema within a schema, and where it stands. */
export interface ChildSchema {
  readonly schema: JsonValue;
  readonly pointer: string;
}

const single = [
  ...["not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames"],
  ...["unevaluatedItems", "unevaluatedProperties", "contentSchema"],
];
const lists = ["allOf", "anyOf", "oneOf", "prefixItems"];
// `definitions` is the older name of `$defs`, which the meta-schema of 2020-12 still lists.
const maps = ["$defs", "definitions", "properties", "patternProperties", "dependentSchemas"];

/** The schemas that stand directly in a schema. Members of other keywords are not schemas, whatever they look like. */
export function* childSchemas(schema: JsonObject, pointer: string): Generator<ChildSchema> {
  for (const keyword of single) {
    const value = schema[keyword];
    if (value !== undefined) yield { schema: value, pointer: pointerTo(pointer, keyword) };
  }
  for (const keyword of lists) {
    const value = schema[keyword];
    if (isArray(value)) yield* items(value, pointerTo(pointer, keyword));
  }
  for (const keyword of maps) {
    const value = schema[keyword];
    if (isObject(value)) yield* members(value, pointerTo(pointer, keyword));
  }
}

function* items(list: readonly JsonValue[], pointer: string): Generator<ChildSchema> {
  for (const [index, schema] of list.entries()) yield { schema, pointer: pointerTo(pointer, index) };
}

function* members(map: JsonObject, pointer: string): Generator<ChildSchema> {
  for (const [name, schema] of Object.entries(map)) {
    if (schema !== undefined) yield { schema, pointer: pointerTo(pointer, name) };
  }
}
