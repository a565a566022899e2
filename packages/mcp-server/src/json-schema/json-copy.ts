import type { JsonValue } from "@berth/jsonrpc-framing";
import { schemaFault } from "./errors.js";
import type { SchemaBounds } from "./limits.js";
import { pointerTo } from "./pointer.js";

/** A schema as the compiler keeps it: a copy of its own, whose objects have no prototype, and its text. */
export interface OwnSchema {
  readonly value: JsonValue;
  /** Canonical JSON: members sorted by UTF-16 units, no white space. */
  readonly text: string;
}

/**
 * Copies a schema within the bounds, so that a later change by the caller, a getter or a name such as `__proto__`
 * cannot reach the compiled form. A cycle ends at `maxDepth`.
 * @throws {SchemaError} `SCHEMA_TOO_LARGE`, `SCHEMA_INVALID`
 */
export function copySchema(schema: unknown, bounds: SchemaBounds): OwnSchema {
  let left = bounds.maxSchemaBytes;
  const spend = (pointer: string, text: string): string => {
    left -= Buffer.byteLength(text);
    if (left < 0)
      throw schemaFault(
        "SCHEMA_TOO_LARGE",
        pointer,
        `the schema exceeds ${bounds.maxSchemaBytes} bytes (maxSchemaBytes)`,
      );
    return text;
  };
  const scalar = (value: string | number | boolean | null, pointer: string): OwnSchema => ({
    value,
    text: spend(pointer, JSON.stringify(value)),
  });
  const copy = (value: unknown, pointer: string, depth: number): OwnSchema => {
    if (value === null || typeof value === "boolean" || typeof value === "string") return scalar(value, pointer);
    if (typeof value === "number" && Number.isFinite(value)) return scalar(value, pointer);
    if (typeof value !== "object") throw schemaFault("SCHEMA_INVALID", pointer, `a ${typeof value} is not JSON`);
    if (depth >= bounds.maxDepth)
      throw schemaFault("SCHEMA_TOO_LARGE", pointer, `nested deeper than ${bounds.maxDepth} (maxDepth)`);
    return Array.isArray(value) ? copyArray(value, pointer, depth) : copyObject(value, pointer, depth);
  };
  const copyArray = (items: readonly unknown[], pointer: string, depth: number): OwnSchema => {
    spend(pointer, "[]");
    const copies: OwnSchema[] = [];
    for (const [index, item] of items.entries()) {
      if (index > 0) spend(pointer, ",");
      copies.push(copy(item, pointerTo(pointer, index), depth + 1));
    }
    return { value: copies.map((item) => item.value), text: `[${copies.map((item) => item.text).join(",")}]` };
  };
  const copyObject = (source: object, pointer: string, depth: number): OwnSchema => {
    spend(pointer, "{}");
    const own: Record<string, JsonValue> = Object.create(null);
    const texts: string[] = [];
    for (const [key, value] of Object.entries(source).sort(byName)) {
      if (value === undefined) continue;
      const name = spend(pointer, JSON.stringify(key));
      const copied = copy(value, pointerTo(pointer, key), depth + 1);
      own[key] = copied.value;
      texts.push(`${name}:${copied.text}`);
      spend(pointer, texts.length > 1 ? ",:" : ":");
    }
    return { value: own, text: `{${texts.join(",")}}` };
  };
  return copy(schema, "", 0);
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
