import type { JsonValue } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import {
  compileSchema,
  createSchemaCompiler,
  isSchemaError,
  SchemaError,
  type SchemaLimits,
} from "../../src/json-schema/index.js";

const failure = (schema: unknown, limits?: SchemaLimits, documents?: ReadonlyMap<string, JsonValue>): SchemaError => {
  try {
    // Schemas come from JavaScript and from the wire: they are whatever they are.
    const hostile: JsonValue = JSON.parse("null");
    compileSchema(Object.is(schema, null) ? hostile : anyValue(schema), limits, documents);
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
  throw new Error("the schema was compiled");
};

/** A value that the type of `compileSchema` refuses, as plain JavaScript can pass it. */
function anyValue(value: unknown): JsonValue {
  const holder: { value: JsonValue } = { value: null };
  Object.assign(holder, { value });
  return holder.value;
}

describe("compiling", () => {
  it("has the same digest for the same schema with its members in another order", () => {
    const one = compileSchema({ type: "object", required: ["a"] });
    expect(compileSchema({ required: ["a"], type: "object" }).digest).toBe(one.digest);
    expect(one.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(compileSchema({ required: ["b"], type: "object" }).digest).not.toBe(one.digest);
  });

  it("compiles a schema once for each digest, and keeps no more than maxCachedSchemas", () => {
    const compiler = createSchemaCompiler({ maxCachedSchemas: 2 });
    const first = compiler.compile({ minimum: 1 });
    const second = compiler.compile({ minimum: 2 });
    expect(compiler.compile({ minimum: 1 })).toBe(first);
    compiler.compile({ minimum: 3 });
    expect(compiler.compile({ minimum: 1 })).toBe(first);
    expect(compiler.compile({ minimum: 2 })).not.toBe(second);
  });

  it("shares nothing between compilers", () => {
    expect(createSchemaCompiler().compile(true)).not.toBe(createSchemaCompiler().compile(true));
  });

  it("keeps two schemas apart that have the same $id", () => {
    const compiler = createSchemaCompiler();
    const one = compiler.compile({ $id: "http://x.test/s", type: "string" });
    const other = compiler.compile({ $id: "http://x.test/s", type: "number" });
    expect([one.validate("a").valid, other.validate("a").valid, other.validate(1).valid]).toEqual([true, false, true]);
  });

  it("does not see what the caller changes in the schema afterwards", () => {
    const schema: { type: string; properties: Record<string, JsonValue> } = {
      type: "object",
      properties: { a: { type: "string" } },
    };
    const compiled = compileSchema(schema);
    schema.properties["a"] = true;
    expect(compiled.validate({ a: 1 }).valid).toBe(false);
  });

  it("does not change the caller's schema, which may be frozen", () => {
    const schema = Object.freeze({ $defs: Object.freeze({ a: Object.freeze({ type: "string" }) }), $ref: "#/$defs/a" });
    expect(compileSchema(schema).validate("x")).toEqual({ valid: true });
    expect(Object.getOwnPropertyNames(schema)).toEqual(["$defs", "$ref"]);
  });

  it("finds references in the schema and in known documents", () => {
    const documents = new Map<string, JsonValue>([
      ["https://x.test/person", { properties: { name: { type: "string" } } }],
    ]);
    const { validate } = createSchemaCompiler(undefined, documents).compile({
      items: { $ref: "https://x.test/person#/properties/name" },
    });
    expect([validate(["a"]).valid, validate([1]).valid]).toEqual([true, false]);
  });

  it("reads a known document within the limits of the schema", () => {
    const documents = new Map<string, JsonValue>([
      ["https://x.test/wide", { allOf: Array.from({ length: 30 }, () => true) }],
    ]);
    expect(failure({ $ref: "https://x.test/wide" }, { maxSubschemas: 20 }, documents).code).toBe("SCHEMA_TOO_LARGE");
  });

  it("recognises its errors from another copy of the package", () => {
    const foreign = Object.assign(new Error("x"), { name: "SchemaError", code: "SCHEMA_REF" });
    expect([isSchemaError(foreign), isSchemaError(new Error("x")), isSchemaError({ name: "SchemaError" })]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

const nested = (depth: number): JsonValue => (depth === 0 ? true : { not: nested(depth - 1) });

describe("a schema is refused", () => {
  it.each([
    { what: "null", schema: null, code: "SCHEMA_INVALID", pointer: "" },
    { what: "a text", schema: "object", code: "SCHEMA_INVALID", pointer: "" },
    { what: "a function within", schema: { const: () => 1 }, code: "SCHEMA_INVALID", pointer: "/const" },
    { what: "a number JSON cannot say", schema: { minimum: Number.NaN }, code: "SCHEMA_INVALID", pointer: "/minimum" },
    { what: "an unknown type", schema: { type: "int" }, code: "SCHEMA_INVALID", pointer: "/type" },
    { what: "a type twice", schema: { type: ["null", "null"] }, code: "SCHEMA_INVALID", pointer: "/type" },
    { what: "no type", schema: { type: [] }, code: "SCHEMA_INVALID", pointer: "/type" },
    {
      what: "a negative count",
      schema: { items: { minLength: -1 } },
      code: "SCHEMA_INVALID",
      pointer: "/items/minLength",
    },
    { what: "half a count", schema: { maxItems: 1.5 }, code: "SCHEMA_INVALID", pointer: "/maxItems" },
    { what: "a text as a bound", schema: { maximum: "9" }, code: "SCHEMA_INVALID", pointer: "/maximum" },
    { what: "multiples of nothing", schema: { multipleOf: 0 }, code: "SCHEMA_INVALID", pointer: "/multipleOf" },
    {
      what: "required as a flag",
      schema: { properties: { a: { required: true } } },
      code: "SCHEMA_INVALID",
      pointer: "/properties/a/required",
    },
    {
      what: "a list in items, as older drafts have it",
      schema: { items: [true] },
      code: "SCHEMA_INVALID",
      pointer: "/items",
    },
    { what: "an empty allOf", schema: { allOf: [] }, code: "SCHEMA_INVALID", pointer: "/allOf" },
    { what: "properties as a list", schema: { properties: ["a"] }, code: "SCHEMA_INVALID", pointer: "/properties" },
    {
      what: "a fault nothing refers to",
      schema: { $defs: { "a/b": { type: 1 } } },
      code: "SCHEMA_INVALID",
      pointer: "/$defs/a~1b/type",
    },
    { what: "an $id with a fragment", schema: { $id: "http://x.test/#a" }, code: "SCHEMA_INVALID", pointer: "/$id" },
    { what: "an anchor that is no name", schema: { $anchor: "#a" }, code: "SCHEMA_INVALID", pointer: "/$anchor" },
    {
      what: "an anchor twice",
      schema: { $anchor: "a", not: { $anchor: "a" } },
      code: "SCHEMA_INVALID",
      pointer: "/not/$anchor",
    },
    {
      what: "an $id twice",
      schema: { anyOf: [{ $id: "http://x.test/" }, { $id: "http://x.test/" }] },
      code: "SCHEMA_INVALID",
      pointer: "/anyOf/1",
    },
    { what: "a dialect that is no text", schema: { $schema: {} }, code: "SCHEMA_INVALID", pointer: "" },
    {
      what: "another dialect",
      schema: { $schema: "http://json-schema.org/draft-07/schema#" },
      code: "SCHEMA_DIALECT",
      pointer: "",
    },
    {
      what: "another dialect within",
      schema: { not: { $id: "a", $schema: "http://x.test/" } },
      code: "SCHEMA_DIALECT",
      pointer: "/not",
    },
    {
      what: "a reference outside",
      schema: { not: { $ref: "https://x.test/s" } },
      code: "SCHEMA_REF",
      pointer: "/not/$ref",
    },
    { what: "a reference to a file", schema: { $ref: "file:///etc/passwd" }, code: "SCHEMA_REF", pointer: "/$ref" },
    {
      what: "a reference nothing uses",
      schema: { $defs: { a: { $ref: "other.json" } } },
      code: "SCHEMA_REF",
      pointer: "/$defs/a/$ref",
    },
    { what: "a reference to nothing", schema: { $ref: "#/$defs/a" }, code: "SCHEMA_REF", pointer: "/$ref" },
    {
      what: "a reference to what is no schema",
      schema: { $ref: "#/required", required: ["a"] },
      code: "SCHEMA_REF",
      pointer: "/$ref",
    },
    {
      what: "a reference into a prototype",
      schema: { $ref: "#/constructor/prototype" },
      code: "SCHEMA_REF",
      pointer: "/$ref",
    },
    { what: "a malformed reference", schema: { $ref: "http://[" }, code: "SCHEMA_REF", pointer: "/$ref" },
    {
      what: "a dynamic reference outside",
      schema: { $dynamicRef: "https://x.test/#a" },
      code: "SCHEMA_REF",
      pointer: "/$dynamicRef",
    },
    { what: "no regular expression", schema: { pattern: "(" }, code: "SCHEMA_PATTERN", pointer: "/pattern" },
    {
      what: "a back-reference",
      schema: { patternProperties: { "(a)\\1": true } },
      code: "SCHEMA_PATTERN",
      pointer: "/patternProperties/(a)\\1",
    },
  ])("$what", ({ schema, code, pointer }) => {
    const error = failure(schema);
    expect({ code: error.code, pointer: error.pointer }).toEqual({ code, pointer });
    expect(error.message).toContain(JSON.stringify(pointer));
  });

  it.each([
    { limit: "maxSchemaBytes", limits: { maxSchemaBytes: 50 }, schema: { const: "a".repeat(50) } },
    { limit: "maxDepth", limits: { maxDepth: 5 }, schema: nested(6) },
    { limit: "maxSubschemas", limits: { maxSubschemas: 10 }, schema: nested(11) },
    { limit: "maxPatternLength", limits: { maxPatternLength: 5 }, schema: { pattern: "aaaaaa" } },
    { limit: "maxPatternStates", limits: { maxPatternStates: 100 }, schema: { pattern: "a{101}" } },
  ])("beyond $limit, which the message names", ({ limit, limits, schema }) => {
    const error = failure(schema, limits);
    expect(error.message).toContain(limit);
    expect(error.message).toContain(String(Object.values(limits)[0]));
  });

  it("as large as its limits it is compiled", () => {
    expect(compileSchema(nested(5), { maxDepth: 6, maxSubschemas: 6 }).validate(1).valid).toBe(false);
    expect(compileSchema({ const: "é" }, { maxSchemaBytes: 16 }).validate("é").valid).toBe(true);
  });

  it("when it contains itself", () => {
    const schema: { allOf: unknown[] } = { allOf: [] };
    schema.allOf.push(schema);
    expect(failure(schema).code).toBe("SCHEMA_TOO_LARGE");
  });

  it("with a place that is cut when its names are long", () => {
    const error = failure({ properties: { ["n".repeat(10_000)]: { type: 1 } } });
    expect(error.pointer.length).toBe(512);
    expect(error.message.length).toBeLessThan(1_000);
  });

  it.each([
    { maxSteps: 0 },
    { maxSteps: 1.5 },
    { maxDepth: 1_000 },
    { maxCachedSchemas: -1 },
    anyValue({ maxStep: 5 }),
  ])("with limits %j, which are out of their range", (limits) => {
    expect(failure(true, Object(limits)).code).toBe("SCHEMA_LIMITS_INVALID");
  });
});
