import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { RelayError } from "./errors.js";
import { type JsonNode, readJsonNode } from "./json-node.js";

/** Values of one object that is looked into: each costs a hundred times its bytes. */
const maxValues = 250_000;

/** A JSON object as a program sees it, with what is needed to write it again without touching what stayed the same. */
export interface RewritableObject {
  readonly value: JsonObject;
  /** The JSON text of a changed copy: numbers that stayed the same are written as they came, so that large integers keep their digits. */
  rewrite(changed: JsonObject): string;
}

/**
 * Reads the bytes of an object. One that has a member twice is refused, since the program would see the one and the server use the other.
 * @throws {RelayError} `DEFINITION_INVALID`: no JSON object, a member twice, a number that no program can hold, more than 250,000 values, nested too deep.
 */
export function readRewritable(bytes: Uint8Array): RewritableObject | undefined {
  const node = readJsonNode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(), maxValues);
  if (node.kind !== "object") return undefined;
  return { value: objectOf(node.members), rewrite: (changed) => printChanged(node, changed) };
}

function valueIn(node: JsonNode): JsonValue {
  if (node.kind === "object") return objectOf(node.members);
  if (node.kind === "array") return node.items.map(valueIn);
  const leaf: unknown = JSON.parse(node.text);
  if (typeof leaf === "number" && !Number.isFinite(leaf))
    throw new RelayError("DEFINITION_INVALID", "a number too large");
  return typeof leaf === "string" || typeof leaf === "number" || typeof leaf === "boolean" ? leaf : null;
}

/** By definition, not by assignment: a member `__proto__` is one like any other. */
function objectOf(members: ReadonlyMap<string, JsonNode>): JsonObject {
  const object: Record<string, JsonValue> = {};
  for (const [name, member] of members) {
    const property = { value: valueIn(member), enumerable: true, writable: true, configurable: true };
    Object.defineProperty(object, name, property);
  }
  return object;
}

function printChanged(node: JsonNode | undefined, value: JsonValue): string {
  if (typeof value !== "object" || value === null) return printLeaf(node, value);
  if (isList(value)) {
    const items = node?.kind === "array" ? node.items : [];
    return `[${value.map((item, at) => printChanged(items[at], item)).join(",")}]`;
  }
  const members = node?.kind === "object" ? node.members : undefined;
  const printed = Object.entries(value).flatMap(([name, member]) =>
    member === undefined ? [] : [`${JSON.stringify(name)}:${printChanged(members?.get(name), member)}`],
  );
  return `{${printed.join(",")}}`;
}

function printLeaf(node: JsonNode | undefined, value: string | number | boolean | null): string {
  return node?.kind === "leaf" && Object.is(JSON.parse(node.text), value) ? node.text : JSON.stringify(value);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
