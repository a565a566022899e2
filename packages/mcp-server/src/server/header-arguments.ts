import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { isObject } from "../json.js";
import { readHeaderValue } from "./header-value.js";
import { type Headers, headerMismatch } from "./standard-headers.js";

/** An argument that the client repeats in a header. */
export interface HeaderArgument {
  /** Keys from the arguments' root to it. */
  readonly path: readonly string[];
  /** Lower case: `mcp-param-region`. */
  readonly header: string;
}

/** The `x-mcp-header` annotations of a tool's input schema that was found to be without fault. */
export function headerArgumentsOf(schema: JsonObject): readonly HeaderArgument[] {
  const found: HeaderArgument[] = [];
  const visit = (node: JsonValue | undefined, path: readonly string[]): void => {
    if (!isObject(node)) return;
    const name = node["x-mcp-header"];
    if (typeof name === "string") found.push({ path, header: `mcp-param-${name.toLowerCase()}` });
    const { properties } = node;
    if (!isObject(properties)) return;
    for (const [key, property] of Object.entries(properties)) visit(property, [...path, key]);
  };
  visit(schema, []);
  return found;
}

/**
 * Each annotated argument has to be in its header, and a header stands for an argument that is there (MCP 2026-07-28, Transports § Custom
 * headers). Headers of no annotated argument are ignored.
 * @throws {RpcError} -32020
 */
export function requireHeaderArguments(
  annotated: readonly HeaderArgument[],
  given: JsonObject,
  headers: Headers,
): void {
  for (const { path, header } of annotated) {
    const value = valueAt(given, path);
    const told = headers(header);
    const name = `Mcp-Param-${header.slice("mcp-param-".length)}`;
    if (value === undefined || value === null) {
      if (told !== undefined) throw headerMismatch(`${name} is there, its argument is not`);
      continue;
    }
    if (typeof value === "object") continue; // no value for a header: the tool's schema refuses it
    if (told === undefined) throw headerMismatch(`${name} is missing`);
    const read = readHeaderValue(told);
    if (read === undefined) throw headerMismatch(`${name} is malformed`);
    if (!isSame(read, value)) throw headerMismatch(`${name} differs from the body`);
  }
}

function valueAt(given: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = given;
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** Integers are compared digit by digit, since two of them can be one number to us and not to a proxy; but for `42.0`, which is 42. */
function isSame(text: string, value: string | number | boolean): boolean {
  if (typeof value !== "number") return text === String(value);
  return Number.isInteger(value) && text.replace(/\.0+$/, "") === String(BigInt(value));
}
