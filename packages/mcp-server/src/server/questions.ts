import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import type { PlainObject } from "../json.js";
import type { FromJsonSchema } from "./from-json-schema.js";

/** One question to the client's user or model (MCP 2026-07-28, MRTR), as it is sent. `params` are as the protocol says them. */
export type InputRequest =
  | { readonly method: "elicitation/create"; readonly params: JsonObject }
  | { readonly method: "sampling/createMessage"; readonly params: JsonObject }
  | { readonly method: "roots/list"; readonly params?: JsonObject | undefined };

/** The same as a handler asks it: `params` may have the type of an interface. */
export type InputQuestion =
  | { readonly method: InputRequest["method"]; readonly params: JsonObject | PlainObject }
  | { readonly method: "roots/list"; readonly params?: undefined };

/** What a user did with a question (MCP 2026-07-28, Elicitation § Response actions). `content` is what a form asked for, valid by its schema. */
export type ElicitationAnswer<Content = JsonObject> =
  | { readonly action: "accept"; readonly content: Content }
  | { readonly action: "decline" | "cancel"; readonly content?: JsonValue | undefined };

/** The answer to one question, checked for shape. A form's `content` has the type that its `requestedSchema` says, if that is written in place. */
export type InputAnswer<Q> = Q extends { readonly method: "elicitation/create"; readonly params: infer Params }
  ? ElicitationAnswer<ContentOf<Params>>
  : Q extends { readonly method: "sampling/createMessage" }
    ? JsonObject & { readonly role: string; readonly content: JsonValue }
    : Q extends { readonly method: "roots/list" }
      ? JsonObject & { readonly roots: readonly (JsonObject & { readonly uri: string })[] }
      : JsonObject;

/** The answers to questions, under the same keys. */
export type InputAnswers<Questions> = { readonly [K in keyof Questions]: InputAnswer<Questions[K]> };

type ContentOf<Params> = Params extends { readonly mode: "url" }
  ? JsonValue | undefined
  : Params extends { readonly requestedSchema: infer Schema }
    ? FromJsonSchema<Schema> extends infer Content extends object
      ? Content
      : JsonObject
    : JsonObject;
