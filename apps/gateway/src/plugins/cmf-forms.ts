import type { InterceptedMethod } from "@berth/mcp-relay";
import type { JsonObject, JsonValue } from "@berth/venv-host/executor";
import { asGiven, type CallForm, isList, isObject, type ResultPart, requestOf, withItem } from "./hook-forms.js";

/** Messages of the framework (CPEX fact sheet § 3, CMF message): one part for each call, named by the call's request id. */
export const cmfForms: Readonly<Record<InterceptedMethod, CallForm>> = {
  "tools/call": {
    before: "cmf.tool_pre_invoke",
    after: "cmf.tool_post_invoke",
    request: ({ name, arguments: args }, id) =>
      message("assistant", "tool_call", { tool_call_id: id, name, arguments: asGiven(args) }),
    readRequest: (payload) => {
      const part = partOf(payload, "tool_call");
      return part && requestOf(part["name"], part["arguments"]);
    },
    parts: (_, name) => [
      {
        payload: (result, id) =>
          message("tool", "tool_result", {
            tool_call_id: id,
            tool_name: name,
            content: result,
            is_error: result["isError"] === true,
          }),
        read: (payload) => objectOf(partOf(payload, "tool_result")?.["content"]),
      },
    ],
  },
  "prompts/get": {
    before: "cmf.prompt_pre_fetch",
    after: "cmf.prompt_post_fetch",
    request: ({ name, arguments: args }, id) =>
      message("user", "prompt_request", { prompt_request_id: id, name, arguments: asGiven(args) }),
    readRequest: (payload) => {
      const part = partOf(payload, "prompt_request");
      return part && requestOf(part["name"], part["arguments"]);
    },
    parts: promptParts,
  },
  "resources/read": {
    before: "cmf.resource_pre_fetch",
    after: "cmf.resource_post_fetch",
    request: ({ name }, id) =>
      message("user", "resource_ref", { resource_request_id: id, uri: name, resource_type: "uri" }),
    readRequest: (payload) => {
      const part = partOf(payload, "resource_ref");
      return part && requestOf(part["uri"], {});
    },
    parts: resourceParts,
  },
};

/** Texts of a prompt, one a message; pictures and the like have no place of their own in the form, and stay. */
function promptParts({ messages }: JsonObject, name: string): readonly ResultPart[] {
  const texts = isList(messages) ? messages.flatMap((one, at) => (textOf(one) === undefined ? [] : [at])) : [];
  return texts.map((at) => ({
    payload: (result, id) =>
      message("user", "prompt_result", {
        prompt_request_id: id,
        prompt_name: name,
        content: textOf(messageAt(result, at)) ?? "",
      }),
    read: (payload, result) => {
      const content = partOf(payload, "prompt_result")?.["content"];
      return typeof content === "string" ? withText(result, at, content) : undefined;
    },
  }));
}

/** Texts of a resource, one a piece of content. What is binary is base64 in MCP, and shown as that. */
function resourceParts({ contents }: JsonObject, name: string): readonly ResultPart[] {
  const pieces = isList(contents) ? contents.flatMap((one, at) => (memberOf(one) === undefined ? [] : [at])) : [];
  return pieces.map((at) => ({
    payload: (result, id) => {
      const piece = contentAt(result, at);
      const { uri, mimeType } = piece;
      const held = memberOf(piece) === "text" ? { content: piece["text"] ?? "" } : { blob: piece["blob"] ?? "" };
      const type = typeof mimeType === "string" ? { mime_type: mimeType } : {};
      const about = { resource_request_id: id, uri: typeof uri === "string" ? uri : name, resource_type: "uri" };
      return message("user", "resource", { ...about, ...type, ...held });
    },
    read: (payload, result) => {
      const piece = contentAt(result, at);
      const part = partOf(payload, "resource");
      const [member, value] = memberOf(piece) === "text" ? ["text", part?.["content"]] : ["blob", part?.["blob"]];
      return typeof member === "string" && typeof value === "string"
        ? withItem(result, at, { ...piece, [member]: value })
        : undefined;
    },
  }));
}

function message(role: string, type: string, content: JsonObject): JsonObject {
  return { message: { schema_version: "2.0", role, content: [{ content_type: type, content }] } };
}

/** The one part of a message: another one in its place, or one more, is no answer to what was asked. */
function partOf({ message: said }: JsonObject, type: string): JsonObject | undefined {
  const parts = isObject(said) ? said["content"] : undefined;
  if (!isList(parts) || parts.length !== 1) return undefined;
  const [part] = parts;
  return isObject(part) && part["content_type"] === type ? objectOf(part["content"]) : undefined;
}

function messageAt({ messages }: JsonObject, at: number): JsonValue | undefined {
  return isList(messages) ? messages[at] : undefined;
}

function textOf(one: JsonValue | undefined): string | undefined {
  const content = isObject(one) ? one["content"] : undefined;
  const text = isObject(content) ? content["text"] : undefined;
  return typeof text === "string" ? text : undefined;
}

function withText(result: JsonObject, at: number, text: string): JsonObject {
  const { messages } = result;
  if (!isList(messages)) return result;
  return { ...result, messages: messages.map((one, index) => (index === at ? textIn(one, text) : one)) };
}

function textIn(one: JsonValue, text: string): JsonValue {
  const content = isObject(one) ? one["content"] : undefined;
  return isObject(one) && isObject(content) ? { ...one, content: { ...content, text } } : one;
}

function contentAt({ contents }: JsonObject, at: number): JsonObject {
  const piece = isList(contents) ? contents[at] : undefined;
  return isObject(piece) ? piece : {};
}

function memberOf(piece: JsonValue): "text" | "blob" | undefined {
  if (!isObject(piece)) return undefined;
  if (typeof piece["text"] === "string") return "text";
  return typeof piece["blob"] === "string" ? "blob" : undefined;
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}
