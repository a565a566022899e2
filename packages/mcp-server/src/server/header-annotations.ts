import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { isObject } from "../json.js";

/**
 * What is wrong with the `x-mcp-header` annotations of a tool's input schema (MCP 2026-07-28, Transports § Custom headers): clients drop a tool
 * over one bad annotation, so it is an error at start.
 */
export function headerFaults(schema: JsonObject): readonly string[] {
  const faults: string[] = [];
  const names = new Set<string>();
  walk(schema, true, (owner, reachable) => {
    const name = owner["x-mcp-header"];
    const shown = `x-mcp-header ${JSON.stringify(name)}`;
    if (typeof name !== "string" || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) faults.push(`${shown} is not a header name`);
    else if (names.has(name.toLowerCase())) faults.push(`${shown} occurs twice`);
    else names.add(name.toLowerCase());
    if (!reachable) faults.push(`${shown} is not reached through "properties" alone`);
    if (!["integer", "string", "boolean"].some((type) => type === owner["type"])) {
      faults.push(`${shown} is on a property that is no integer, string or boolean`);
    }
  });
  return faults;
}

type Visit = (owner: JsonObject, reachable: boolean) => void;

/** `reachable` as long as the way from the root led through `properties` only. Values that are data are not walked. */
function walk(node: JsonValue | undefined, reachable: boolean, visit: Visit): void {
  if (Array.isArray(node)) for (const item of node) walk(item, false, visit);
  if (!isObject(node)) return;
  if (Object.hasOwn(node, "x-mcp-header")) visit(node, reachable);
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "properties" && isObject(value)) {
      for (const property of Object.values(value)) walk(property, reachable, visit);
    } else if (!["const", "enum", "default", "examples"].includes(keyword)) {
      walk(value, false, visit);
    }
  }
}
