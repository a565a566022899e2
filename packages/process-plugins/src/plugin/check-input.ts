import type { Json } from "./plugin-definition.js";
import { isJson } from "./wire.js";

interface JsonType {
  readonly article: string;
  readonly is: (value: unknown) => boolean;
}

const types: ReadonlyMap<unknown, JsonType> = new Map<unknown, JsonType>([
  ["string", { article: "a", is: (value) => typeof value === "string" }],
  ["number", { article: "a", is: (value) => typeof value === "number" }],
  ["integer", { article: "an", is: (value) => typeof value === "number" && Number.isInteger(value) }],
  ["boolean", { article: "a", is: (value) => typeof value === "boolean" }],
  ["object", { article: "an", is: isJson }],
  ["array", { article: "an", is: Array.isArray }],
]);

/**
 * The first fault of a tool's input: `required`, then the `type` of each property, then what `additionalProperties: false` forbids. Nothing else of JSON Schema
 * is looked at: a whole validator would be a dependency.
 */
export function inputFault(schema: Json, input: Json): string | undefined {
  const properties = isJson(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  for (const name of required) if (typeof name === "string" && !Object.hasOwn(input, name)) return `${name} is missing`;
  for (const [name, property] of Object.entries(properties)) {
    const type = isJson(property) ? property["type"] : undefined;
    const known = types.get(type);
    if (known !== undefined && Object.hasOwn(input, name) && !known.is(input[name]))
      return `${name} is not ${known.article} ${type}`;
  }
  if (schema["additionalProperties"] !== false) return undefined;
  const unknown = Object.keys(input).find((name) => !Object.hasOwn(properties, name));
  return unknown === undefined ? undefined : `${unknown} is not known`;
}
