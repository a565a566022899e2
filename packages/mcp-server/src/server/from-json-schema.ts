import type { JsonArray, JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import type { JsonLike, PlainObject } from "../json.js";

/**
 * The type of what a JSON Schema allows, where the schema's own type says it (written in place, or with `as const`): `type`, `properties`, `required`,
 * `items`, `enum`, `const` and `additionalProperties`, to six levels. What other keywords narrow further is not seen, and anything else is a `JsonValue`.
 */
export type FromJsonSchema<S> = Of<S, AsJson, []>;

/** The same of what is going to be checked by the schema: where that says nothing, it may have the type of an interface. */
export type ForJsonSchema<S> = Of<S, AsInterfaces, []>;

/** What stands for a place of which the schema's type says nothing. */
interface AsJson {
  readonly value: JsonValue;
  readonly array: JsonArray;
  readonly object: JsonObject;
}
interface AsInterfaces {
  readonly value: JsonLike;
  readonly array: readonly JsonLike[];
  readonly object: JsonObject | PlainObject;
}
type Unsaid = AsJson | AsInterfaces;
type Depth = readonly 0[];

type Of<S, U extends Unsaid, D extends Depth> = D["length"] extends 6
  ? U["value"]
  : S extends { readonly const: infer Value }
    ? Value
    : S extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : S extends { readonly type: infer Type }
        ? OfType<Type, S, U, [...D, 0]>
        : U["value"];

interface Scalars {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type OfType<Type, S, U extends Unsaid, D extends Depth> = Type extends readonly (infer Each)[]
  ? OfType<Each, S, U, D>
  : Type extends keyof Scalars
    ? Scalars[Type]
    : Type extends "array"
      ? OfArray<S, U, D>
      : Type extends "object"
        ? OfObject<S, U, D>
        : U["value"];

type OfArray<S, U extends Unsaid, D extends Depth> = S extends { readonly prefixItems: unknown }
  ? U["array"]
  : S extends { readonly items: infer Items }
    ? readonly Of<Items, U, D>[]
    : U["array"];

type OfObject<S, U extends Unsaid, D extends Depth> = S extends { readonly properties: infer Properties }
  ? string extends keyof Properties
    ? U["object"]
    : Members<Properties, RequiredOf<S>, U, D>
  : S extends { readonly patternProperties: unknown }
    ? U["object"]
    : S extends { readonly additionalProperties: infer Rest }
      ? OfRest<Rest, U, D>
      : U["object"];

/** Other members than these may be there unless the schema forbids them; its type names only these. */
type Members<Properties, Required, U extends Unsaid, D extends Depth> = Flat<
  { readonly [K in Extract<keyof Properties, Required>]: Of<Properties[K], U, D> } & {
    readonly [K in Exclude<keyof Properties, Required>]?: Of<Properties[K], U, D>;
  }
>;

type OfRest<Rest, U extends Unsaid, D extends Depth> = Rest extends false
  ? Readonly<Record<string, never>>
  : Rest extends true
    ? U["object"]
    : Readonly<Record<string, Of<Rest, U, D>>>;

type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] }
  ? string extends Name
    ? never
    : Name
  : never;

/** The same, told by editors as one object. */
type Flat<T> = { [K in keyof T]: T[K] };
