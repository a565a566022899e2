import type { JsonValue } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { compileSchema, type SchemaLimits, type SchemaProblem } from "../../src/json-schema/index.js";

function problemsOf(schema: JsonValue, instance: unknown, limits?: SchemaLimits): readonly SchemaProblem[] {
  const result = compileSchema(schema, limits).validate(instance);
  return result.valid ? [] : result.problems;
}

const briefly = (problems: readonly SchemaProblem[]): readonly string[] =>
  problems.map(({ path, keyword }) => `${path} ${keyword}`);

const person = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1 },
    age: { type: "integer", minimum: 0 },
    tags: { items: { enum: ["a", "b"] } },
  },
  required: ["name", "age"],
  additionalProperties: false,
};

describe("problems", () => {
  it("name each place by JSON Pointer, with the keyword and a sentence", () => {
    expect(problemsOf(person, { name: "", age: -1, tags: ["a", "c"], "x/y~z": 1 })).toEqual([
      { path: "/name", keyword: "minLength", message: "must have at least 1 characters" },
      { path: "/age", keyword: "minimum", message: "must be at least 0" },
      { path: "/tags/1", keyword: "enum", message: 'must be one of ["a","b"]' },
      { path: "/x~1y~0z", keyword: "additionalProperties", message: "is not a member that is allowed here" },
    ]);
  });

  it("name each member that is missing", () => {
    expect(problemsOf(person, {})).toEqual([
      { path: "", keyword: "required", message: 'must have the member "name"' },
      { path: "", keyword: "required", message: 'must have the member "age"' },
    ]);
  });

  it.each([
    { schema: { type: ["string", "null"] }, instance: 1, told: [" type"] },
    { schema: { not: { type: "string" } }, instance: "a", told: [" not"] },
    { schema: false, instance: 1, told: [" false"] },
    { schema: { properties: { a: false } }, instance: { a: 1 }, told: ["/a properties"] },
    { schema: { anyOf: [{ type: "string" }, { minimum: 5 }] }, instance: 1, told: [" anyOf", " type", " minimum"] },
    { schema: { oneOf: [{ type: "string" }, { minimum: 5 }] }, instance: 1, told: [" oneOf", " type", " minimum"] },
    { schema: { oneOf: [true, true] }, instance: 1, told: [" oneOf"] },
    { schema: { allOf: [{ minimum: 5 }, { multipleOf: 2 }] }, instance: 1, told: [" minimum", " multipleOf"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, in a value that nothing awaits
    { schema: { if: { minimum: 0 }, then: { maximum: 5 }, else: false }, instance: 6, told: [" maximum"] },
    { schema: { if: { minimum: 0 }, else: false }, instance: -6, told: [" else"] },
    { schema: { contains: { type: "string" } }, instance: [1], told: [" contains"] },
    { schema: { contains: true, minContains: 2 }, instance: [1], told: [" minContains"] },
    { schema: { contains: true, maxContains: 1 }, instance: [1, 2], told: [" maxContains"] },
    { schema: { uniqueItems: true }, instance: [1, { a: 1, b: 2 }, { b: 2, a: 1 }], told: [" uniqueItems"] },
    { schema: { prefixItems: [true], items: false }, instance: [1, 2], told: ["/1 items"] },
    { schema: { unevaluatedItems: false }, instance: [1], told: ["/0 unevaluatedItems"] },
    {
      schema: { properties: { a: true }, unevaluatedProperties: false },
      instance: { b: 1 },
      told: ["/b unevaluatedProperties"],
    },
    { schema: { propertyNames: { maxLength: 1 } }, instance: { ab: 1 }, told: ["/ab propertyNames", "/ab maxLength"] },
    { schema: { dependentRequired: { a: ["b"] } }, instance: { a: 1 }, told: [" dependentRequired"] },
    { schema: { dependentSchemas: { a: { maxProperties: 1 } } }, instance: { a: 1, b: 1 }, told: [" maxProperties"] },
    { schema: { pattern: "^a$" }, instance: "b", told: [" pattern"] },
    { schema: { const: { a: 1 } }, instance: { a: 2 }, told: [" const"] },
  ])("of $schema for $instance are $told", ({ schema, instance, told }) => {
    expect(briefly(problemsOf(schema, instance))).toEqual(told);
  });

  it("of members that failed are not told again as unevaluated", () => {
    const schema = { properties: { a: { type: "string" } }, unevaluatedProperties: false };
    expect(briefly(problemsOf(schema, { a: 1 }))).toEqual(["/a type"]);
  });

  it("are at most maxProblems", () => {
    const many = Array.from({ length: 1_000 }, () => 1);
    expect(problemsOf({ items: { type: "string" } }, many)).toHaveLength(20);
    expect(problemsOf({ items: { type: "string" } }, many, { maxProblems: 3 })).toHaveLength(3);
    expect(briefly(problemsOf({ anyOf: [{ minimum: 5 }, { minimum: 6 }] }, 1, { maxProblems: 1 }))).toEqual([" anyOf"]);
  });

  it("have paths of at most 512 characters and messages of at most 300", () => {
    const name = "/".repeat(1_000_000);
    const [problem] = problemsOf({ additionalProperties: { const: "c".repeat(5_000) } }, { [name]: 1 });
    expect(problem?.path).toHaveLength(512);
    expect(problem?.message).toHaveLength(300);
  });

  it("never repeat a value of the instance", () => {
    const schema = {
      properties: { key: { type: "number", enum: [1], const: 1, pattern: "^a", maxLength: 3 } },
      required: ["other"],
    };
    expect(JSON.stringify(problemsOf(schema, { key: "s3cret-token" }))).not.toContain("s3cret");
  });
});

describe("values as JavaScript has them", () => {
  it.each([
    { what: "an undefined member is absent", schema: { required: ["a"] }, instance: { a: undefined }, valid: false },
    {
      what: "an undefined member is not counted",
      schema: { maxProperties: 0 },
      instance: { a: undefined },
      valid: true,
    },
    {
      what: "an undefined member is not additional",
      schema: { additionalProperties: false },
      instance: { a: undefined },
      valid: true,
    },
    { what: "undefined is of no type", schema: { type: ["null", "object"] }, instance: undefined, valid: false },
    { what: "a function is of no type", schema: { type: "object" }, instance: () => 1, valid: false },
    { what: "a bigint is no number", schema: { type: "number" }, instance: 1n, valid: false },
    { what: "-0 equals 0", schema: { enum: [0] }, instance: -0, valid: true },
    { what: "-0 and 0 are not unique", schema: { uniqueItems: true }, instance: [0, -0], valid: false },
    { what: "1.0 is an integer", schema: { type: "integer" }, instance: 1.0, valid: true },
    { what: "format is an annotation", schema: { format: "email" }, instance: "no", valid: true },
    {
      what: "a text and a number are unique",
      schema: { uniqueItems: true },
      instance: ["1", 1, "[1]", [1], null, "null"],
      valid: true,
    },
    { what: "characters beyond 16 bits count once", schema: { maxLength: 1 }, instance: "😀", valid: true },
    { what: "half a pair counts", schema: { minLength: 2 }, instance: "\ud83d\ud83d", valid: true },
    { what: "decimals are multiples as written", schema: { multipleOf: 0.01 }, instance: 19.99, valid: true },
    { what: "great numbers are multiples of small ones", schema: { multipleOf: 1e-300 }, instance: 1e300, valid: true },
  ])("$what", ({ schema, instance, valid }) => {
    expect(compileSchema(schema).validate(instance).valid).toBe(valid);
  });
});
