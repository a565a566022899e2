import type { InterceptedMethod, InterceptedRequest } from "@berth/mcp-relay";
import type { JsonObject, JsonValue } from "@berth/venv-host/executor";

/** How calls of one kind look to the hooks before and after them. */
export interface CallForm {
  readonly before: string;
  readonly after: string;
  request(request: InterceptedRequest, requestId: string): JsonObject;
  /** The request as a changed payload says it; undefined when it says none. */
  readRequest(payload: JsonObject, request: InterceptedRequest): InterceptedRequest | undefined;
  /** What of a result is shown, one after another. */
  parts(result: JsonObject, name: string): readonly ResultPart[];
}

/** A part of a result that a hook is asked about. */
export interface ResultPart {
  /** From the result as the hooks before have left it. */
  payload(result: JsonObject, requestId: string): JsonObject;
  /** The result with a changed part; undefined when it cannot be one. */
  read(payload: JsonObject, result: JsonObject): JsonObject | undefined;
}

/** The framework's own payloads (CPEX fact sheet § 3). */
export const plainForms: Readonly<Record<InterceptedMethod, CallForm>> = {
  "tools/call": {
    before: "tool_pre_invoke",
    after: "tool_post_invoke",
    request: ({ name, arguments: args }) => ({ name, args: asGiven(args) }),
    readRequest: ({ name, args }) => requestOf(name, args),
    parts: (_, name) => [whole({ name })],
  },
  "prompts/get": {
    before: "prompt_pre_fetch",
    after: "prompt_post_fetch",
    request: ({ name, arguments: args }) => ({ prompt_id: name, args: asGiven(args) }),
    readRequest: ({ prompt_id: name, args }) => requestOf(name, args),
    parts: (_, name) => [whole({ prompt_id: name })],
  },
  "resources/read": {
    before: "resource_pre_fetch",
    after: "resource_post_fetch",
    request: ({ name }) => ({ uri: name, metadata: {} }),
    readRequest: ({ uri }) => requestOf(uri, {}),
    parts: contentsOf,
  },
};

/** Plugins are shown one piece of content at a time, as the framework gives it to them. */
function contentsOf(result: JsonObject, uri: string): readonly ResultPart[] {
  const { contents } = result;
  if (!isList(contents))
    return [{ payload: (all) => ({ uri, content: all }), read: ({ content }) => objectOr(content) }];
  return contents.map((_, at) => ({
    payload: (all) => ({ uri: uriOf(itemAt(all, at)) ?? uri, content: itemAt(all, at) }),
    read: ({ content }, all) => (isObject(content) ? withItem(all, at, content) : undefined),
  }));
}

function whole(about: JsonObject): ResultPart {
  return { payload: (result) => ({ ...about, result }), read: ({ result }) => objectOr(result) };
}

function itemAt({ contents }: JsonObject, at: number): JsonValue {
  return isList(contents) ? (contents[at] ?? null) : null;
}

/** The result with another piece of content. */
export function withItem(result: JsonObject, at: number, item: JsonObject): JsonObject {
  const { contents } = result;
  return isList(contents)
    ? { ...result, contents: contents.map((held, index) => (index === at ? item : held)) }
    : result;
}

function uriOf(item: JsonValue): string | undefined {
  const uri = isObject(item) ? item["uri"] : undefined;
  return typeof uri === "string" ? uri : undefined;
}

/** A request that a payload says; arguments that it leaves out are none. */
export function requestOf(name: JsonValue | undefined, args: JsonValue | undefined): InterceptedRequest | undefined {
  if (typeof name !== "string" || !(args === undefined || args === null || isObject(args))) return undefined;
  return { name, arguments: args ?? {} };
}

/** The relay's objects are JSON as it was read: no member of theirs is undefined. */
export function asGiven(object: InterceptedRequest["arguments"]): JsonObject {
  const given: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined)
      Object.defineProperty(given, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return given;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function objectOr(value: JsonValue | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}
