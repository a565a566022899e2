import { isObject } from "../json.js";
import type { SchemaCompiler } from "../json-schema/index.js";
import { nearestName } from "../nearest-name.js";

type Members = Readonly<Record<string, unknown>>;

const methods = ["elicitation/create", "sampling/createMessage", "roots/list"];

/** What is wrong with the questions of a handler, whatever client they are for; undefined when nothing is. */
export function questionsFault(requests: unknown, compiler: SchemaCompiler): string | undefined {
  if (!isObject(requests)) return "without questions: requestInput({ key: { method, params } })";
  if (typeof requests["method"] === "string") return "without a key: requestInput({ key: { method, params } })";
  for (const [key, request] of Object.entries(requests)) {
    const fault = questionFault(request, compiler);
    if (fault !== undefined) return `"${key.slice(0, 64)}", which ${fault}`;
  }
  return undefined;
}

function questionFault(request: unknown, compiler: SchemaCompiler): string | undefined {
  if (!isObject(request)) return "is no object with method and params";
  const { method, params } = request;
  if (typeof method !== "string" || !methods.includes(method)) {
    const meant = typeof method === "string" ? nearestName(method.slice(0, 64), methods) : undefined;
    return `has no method that a client can be asked${meant === undefined ? `: there are ${methods.join(", ")}` : ` (did you mean "${meant}"?)`}`;
  }
  if (params === undefined && method === "roots/list") return undefined;
  if (!isObject(params)) return "has no params, an object";
  if (method === "sampling/createMessage") return samplingFault(params);
  return method === "elicitation/create" ? elicitationFault(params, compiler) : undefined;
}

/** MCP 2025-11-25, Sampling § Creating messages. */
function samplingFault({ messages, maxTokens }: Members): string | undefined {
  if (!Array.isArray(messages)) return "has no messages, a list";
  return Number.isInteger(maxTokens) ? undefined : "has no maxTokens, a whole number";
}

/** MCP 2025-11-25, Elicitation § Creating elicitation requests. */
function elicitationFault(
  { mode, message, url, requestedSchema }: Members,
  compiler: SchemaCompiler,
): string | undefined {
  if (typeof message !== "string") return "has no message, a text";
  if (mode === "url") return typeof url === "string" && URL.canParse(url) ? undefined : "has no url that is an address";
  if (mode !== undefined && mode !== "form") return 'has a mode that is neither "form" nor "url"';
  const fault = formFault(requestedSchema);
  if (fault !== undefined) return `has a requestedSchema that ${fault}`;
  try {
    if (isObject(requestedSchema)) compiler.compile(requestedSchema);
    return undefined;
  } catch (error) {
    return `has a requestedSchema that is invalid: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** A form is flat: clients refuse, or cannot show, any other schema (MCP 2025-11-25, Elicitation § Requested schema). */
function formFault(schema: unknown): string | undefined {
  if (isOfLibrary(schema)) {
    return "is of a library: give the JSON Schema that it stands for (zod: z.toJSONSchema(schema))";
  }
  if (!isObject(schema)) return "is no JSON Schema";
  const { type, properties, required } = schema;
  if (type !== "object" || !isObject(properties)) return 'needs "type": "object" and "properties"';
  if (required !== undefined && !isTexts(required)) return "has a required that is no list of names";
  for (const [name, field] of Object.entries(properties)) {
    const fault = fieldFault(field);
    if (fault !== undefined) return `has a field "${name.slice(0, 64)}" ${fault}`;
  }
  return undefined;
}

/** What zod makes JSON Schema of it also has that mark, but says its properties. */
function isOfLibrary(schema: unknown): boolean {
  if (typeof schema === "function") return "~standard" in schema;
  return isObject(schema) && "~standard" in schema && !isObject(schema["properties"]);
}

const formats = ["email", "uri", "date", "date-time"];

function fieldFault(field: unknown): string | undefined {
  if (!isObject(field)) return "that is no object";
  const { type, format, enum: values, oneOf, items } = field;
  switch (type) {
    case "string":
      if (format !== undefined && !formats.includes(String(format))) {
        return `with a format that forms do not have: there are ${formats.join(", ")}`;
      }
      if (values !== undefined && !isTexts(values)) return "with an enum that is no list of texts";
      return oneOf === undefined || isChoice(oneOf) ? undefined : "with a oneOf that is no list of { const, title }";
    case "number":
    case "integer":
    case "boolean":
      return undefined;
    case "array":
      return isObject(items) && (isTexts(items["enum"]) || isChoice(items["anyOf"]))
        ? undefined
        : "that is an array of something else than a choice: items needs enum, or anyOf of { const, title }";
    default:
      return "of a type that forms do not have: there are string, number, integer, boolean, and array for choices";
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** Values with what is shown for them. */
function isChoice(value: unknown): boolean {
  const isOne = (one: unknown): boolean =>
    isObject(one) && typeof one["const"] === "string" && typeof one["title"] === "string";
  return Array.isArray(value) && value.every(isOne);
}
