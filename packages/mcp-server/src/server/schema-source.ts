import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { type JsonLike, toJson } from "../json.js";
import type { SchemaCompiler, SchemaProblem } from "../json-schema/index.js";
import { pointerTo } from "../json-schema/pointer.js";
import type { ForJsonSchema, FromJsonSchema } from "./from-json-schema.js";

/** A schema of another library that follows standardschema.dev and can say its JSON Schema (zod 4.2 and later, ArkType, Valibot's adapter). */
export interface StandardSchema<Output = unknown, Input = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema: {
      /** What it takes: of a tool's arguments. */
      readonly input: (options: { readonly target: "draft-2020-12" }) => Readonly<Record<string, unknown>>;
      /** What its validation returns: of a tool's structured result. */
      readonly output: (options: { readonly target: "draft-2020-12" }) => Readonly<Record<string, unknown>>;
    };
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a Standard Schema answers. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One fault, as a Standard Schema tells it. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema as data, or a Standard Schema. */
export type SchemaSource = JsonObject | StandardSchema;

/** The type of a tool's arguments: what a Standard Schema makes of them, or what a plain JSON Schema says by its own type (see `FromJsonSchema`). */
export type ArgumentsOf<S extends SchemaSource> =
  S extends StandardSchema<infer Output>
    ? unknown extends Output
      ? JsonObject
      : Output
    : FromJsonSchema<S> extends infer Given extends object
      ? Given
      : JsonObject;

/** The type of a tool's structured result: what its output schema takes. */
export type StructuredOf<O extends SchemaSource> =
  O extends StandardSchema<unknown, infer Input> ? (unknown extends Input ? JsonLike : Input) : ForJsonSchema<O>;

/** What is left of a schema after registration. */
export interface BoundSchema {
  /** As lists show it. */
  readonly json: JsonObject;
  /** The valid value, or what is wrong with it. */
  check(value: JsonValue): Checked | Promise<Checked>;
}
export type Checked = { readonly value: unknown } | { readonly problems: readonly SchemaProblem[] };

/** Throws when the source cannot say a JSON Schema or that one is invalid; the message is for the registration report. */
export function bindSchema(source: SchemaSource, compiler: SchemaCompiler, side: "input" | "output"): BoundSchema {
  if (isStandard(source)) return bindStandard(source, side);
  if ("safeParse" in source) throw new TypeError(zodNeeded); // zod before 3.24
  // What the official SDK's 1.x takes for a schema.
  if (Object.values(source).some(isStandard)) {
    throw new TypeError("these are the members of a schema, and no schema: wrap them in z.object({ … })");
  }
  return bindJson(source, compiler);
}

const zodNeeded = "this zod schema cannot say its JSON Schema: it needs zod 4.2 or later, and not zod/mini";

function isStandard(source: SchemaSource | JsonValue | undefined): source is StandardSchema {
  const isReference = typeof source === "function" || (typeof source === "object" && source !== null);
  return isReference && "~standard" in source;
}

function bindJson(source: JsonObject, compiler: SchemaCompiler): BoundSchema {
  const compiled = compiler.compile(source);
  return {
    json: source,
    check(value) {
      const result = compiled.validate(value);
      return result.valid ? { value } : { problems: result.problems };
    },
  };
}

function bindStandard(source: StandardSchema, side: "input" | "output"): BoundSchema {
  const standard = source["~standard"];
  if (typeof standard.jsonSchema?.[side] !== "function") {
    const { vendor } = standard;
    throw new TypeError(
      vendor === "zod" ? zodNeeded : `this ${vendor} schema cannot say its JSON Schema (no ~standard.jsonSchema)`,
    );
  }
  const json = toJson(standard.jsonSchema[side]({ target: "draft-2020-12" }));
  return {
    json,
    check(value) {
      const result = standard.validate(value);
      return result instanceof Promise ? result.then(fromStandard) : fromStandard(result);
    },
  };
}

const maxProblems = 16;
const maxPathLength = 500;

function fromStandard(result: StandardResult<unknown>): Checked {
  if (result.issues === undefined) return { value: result.value };
  return {
    problems: result.issues
      .slice(0, maxProblems)
      .map(({ message, path }) => ({ path: pointer(path ?? []), keyword: "", message: message.slice(0, 500) })),
  };
}

/** Cut: a key may be as long as a message. */
function pointer(path: NonNullable<StandardIssue["path"]>): string {
  let place = "";
  for (const part of path) {
    if (place.length >= maxPathLength) break;
    place = pointerTo(place, String(typeof part === "object" ? part.key : part).slice(0, maxPathLength));
  }
  return place.slice(0, maxPathLength);
}
