import type { JsonValue } from "@berth/jsonrpc-framing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { compileSchema, SchemaError, type SchemaLimits, type SchemaResult } from "../../src/json-schema/index.js";
import { processorMs } from "./cpu.js";

const validate = (schema: JsonValue, instance: unknown, limits?: SchemaLimits): SchemaResult =>
  compileSchema(schema, limits).validate(instance);
const parsed = (text: string): JsonValue => {
  const value: JsonValue = JSON.parse(text);
  return value;
};

describe("names of Object.prototype", () => {
  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"])("%s is a name like others", (name) => {
    const member = parsed(`{ ${JSON.stringify(name)}: 1 }`);
    const schema = parsed(
      `{ "properties": { ${JSON.stringify(name)}: { "type": "string" } }, "additionalProperties": false }`,
    );
    expect(validate({ required: [name] }, {}).valid).toBe(false);
    expect(validate({ required: [name] }, member).valid).toBe(true);
    expect(validate({ additionalProperties: false }, member).valid).toBe(false);
    expect(validate(schema, member).valid).toBe(false);
    expect(validate(schema, {}).valid).toBe(true);
    expect(validate({ dependentRequired: parsed(`{ ${JSON.stringify(name)}: ["b"] }`) }, {}).valid).toBe(true);
    expect(validate({ dependentSchemas: parsed(`{ ${JSON.stringify(name)}: false }`) }, {}).valid).toBe(true);
    expect(validate({ const: {} }, member).valid).toBe(false);
    expect(validate({ const: member }, {}).valid).toBe(false);
    expect(validate({ uniqueItems: true }, [{}, member]).valid).toBe(true);
    expect(validate({ minProperties: 1 }, member).valid).toBe(true);
  });

  it("keywords are read from the schema itself only", () => {
    const polluted = parsed('{ "__proto__": { "type": "string", "$ref": "http://x.test/" } }');
    expect(validate(polluted, 1).valid).toBe(true);
    const heir: JsonValue = Object.create({ type: "string" });
    expect(validate(heir, 1).valid).toBe(true);
  });

  it("nothing is written to Object.prototype", () => {
    validate(
      parsed('{ "properties": { "__proto__": { "properties": { "polluted": true } } } }'),
      parsed('{ "__proto__": { "polluted": 1 } }'),
    );
    expect("polluted" in {}).toBe(false);
  });
});

const manyMembers = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
const chain = (length: number, link: (next: string) => JsonValue, end: JsonValue): JsonValue => {
  const names = Array.from({ length }, (_, index): [string, JsonValue] => [
    `d${index}`,
    index === length - 1 ? end : link(`#/$defs/d${index + 1}`),
  ]);
  return { $defs: Object.fromEntries(names), $ref: "#/$defs/d0" };
};
const nestedArrays = (depth: number): unknown => {
  let value: unknown = [];
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
};

describe("work without end", () => {
  it.each([
    { what: "a reference to itself", schema: { $ref: "#" }, instance: 1, exceeded: "maxEvaluationDepth" },
    {
      what: "a dynamic reference to itself",
      schema: { $dynamicRef: "#" },
      instance: 1,
      exceeded: "maxEvaluationDepth",
    },
    {
      what: "a loop through not, which is no success",
      schema: { not: { $ref: "#" } },
      instance: 1,
      exceeded: "maxEvaluationDepth",
    },
    {
      what: "a long chain of references",
      schema: chain(2_000, ($ref) => ({ $ref }), true),
      instance: 1,
      exceeded: "maxEvaluationDepth",
    },
    {
      what: "branches that double",
      schema: chain(60, ($ref) => ({ anyOf: [{ $ref }, { $ref }] }), false),
      instance: 1,
      exceeded: "maxSteps",
    },
    {
      what: "an instance too deep",
      schema: { items: { $ref: "#" } },
      instance: nestedArrays(129),
      exceeded: "maxInstanceDepth",
    },
    {
      what: "equal items too deep",
      schema: { uniqueItems: true },
      instance: [nestedArrays(200)],
      exceeded: "maxInstanceDepth",
    },
    {
      what: "names looked at again and again",
      schema: { anyOf: Array.from({ length: 1_000 }, () => ({ propertyNames: false })) },
      instance: manyMembers(100_000),
      exceeded: "maxSteps",
    },
    {
      what: "values compared again and again",
      schema: { enum: Array.from({ length: 1_000 }, (_, a) => ({ a })) },
      instance: manyMembers(100_000),
      exceeded: "maxSteps",
    },
    {
      what: "texts counted again and again",
      schema: { allOf: Array.from({ length: 100 }, () => ({ maxLength: 9 })).map((part) => ({ not: part })) },
      instance: "ж".repeat(2_000_000),
      exceeded: "maxSteps",
    },
    {
      what: "merging what was evaluated",
      schema: chain(60, ($ref) => ({ $ref, properties: {}, unevaluatedProperties: true }), true),
      instance: manyMembers(100_000),
      exceeded: "maxSteps",
    },
  ])("$what ends at $exceeded", ({ schema, instance, exceeded }) => {
    let result: SchemaResult = { valid: true };
    const used = processorMs(() => (result = validate(schema, instance)));
    expect(result).toMatchObject({ valid: false, exceeded, problems: [{ path: "", keyword: exceeded }] });
    expect(used).toBeLessThan(5_000);
  });

  it("the greatest depths that may be set do not overflow the stack", () => {
    const limits = { maxEvaluationDepth: 1_000, maxInstanceDepth: 512, maxDepth: 256 };
    expect(validate({ contains: { anyOf: [{ $ref: "#" }] } }, nestedArrays(300), limits)).toMatchObject({
      valid: false,
    });
    expect(
      validate(
        chain(990, ($ref) => ({ not: { if: { $ref } } }), true),
        1,
        limits,
      ),
    ).toMatchObject({ exceeded: "maxEvaluationDepth" });
    expect(validate({ uniqueItems: true }, [nestedArrays(509)], limits)).toEqual({ valid: true });
  });

  it("a caller deep in recursion gets an answer too", () => {
    const { validate: check } = compileSchema({ $ref: "#" });
    const results: SchemaResult[] = [];
    const descend = (): void => {
      try {
        descend();
      } catch {
        // Out of stack here: the frames above have a little more, up to where the check fits.
        if (results.length === 0) results.push(check(1));
      }
    };
    expect(descend).not.toThrow();
    expect(results[0]).toMatchObject({ valid: false, exceeded: "maxEvaluationDepth" });
  });

  it("uniqueItems takes time in proportion to the items", () => {
    const items = Array.from({ length: 200_000 }, (_, a) => ({ a }));
    expect(processorMs(() => expect(validate({ uniqueItems: true }, items).valid).toBe(true))).toBeLessThan(5_000);
  });

  it("wording problems of branches that hold in the end stays within the budget", () => {
    const branches = {
      anyOf: [{ enum: Array.from({ length: 10_000 }, (_, index) => `v${index}`) }, { type: "number" }],
    };
    const instance = { ["n".repeat(1_000_000)]: Array.from({ length: 100_000 }, () => 1) };
    const schema = { additionalProperties: { items: branches, maxItems: 1 } };
    let result: SchemaResult = { valid: true };
    expect(processorMs(() => (result = validate(schema, instance)))).toBeLessThan(5_000);
    expect(result.valid).toBe(false);
  });

  it("a schema of the greatest size is compiled in bounded time", () => {
    const one = {
      allOf: Array.from({ length: 4_000 }, (_, index) => ({ $id: `i${index}`, pattern: `^a${index % 100}` })),
      $id: `http://x.test/${"a".repeat(4_000)}/`,
    };
    const other = {
      properties: { ["k".repeat(100_000)]: { prefixItems: Array.from({ length: 4_000 }, () => false) } },
    };
    expect(processorMs(() => [one, other].map((schema) => compileSchema(schema)))).toBeLessThan(5_000);
  });
});

describe("any JSON", () => {
  const keyword = fc.constantFrom(
    ...[
      "$ref",
      "$dynamicRef",
      "$id",
      "$anchor",
      "$dynamicAnchor",
      "$defs",
      "$schema",
      "type",
      "const",
      "enum",
      "not",
      "allOf",
      "anyOf",
    ],
    ...[
      "oneOf",
      "if",
      "then",
      "else",
      "items",
      "prefixItems",
      "contains",
      "uniqueItems",
      "properties",
      "patternProperties",
      "pattern",
    ],
    ...[
      "additionalProperties",
      "propertyNames",
      "required",
      "unevaluatedItems",
      "unevaluatedProperties",
      "minLength",
      "multipleOf",
      "__proto__",
    ],
  );
  const scalar = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom("#", "#a", "a", "#/$defs/a", "http://[", "urn:x:y", "string", "(a", "a+", "%", 1, -1, 0.5, true),
  );
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 5, depthSize: "medium" },
      scalar,
      fc.array(tie("json"), { maxLength: 3 }),
      fc.dictionary(keyword, tie("json"), { maxKeys: 4, noNullPrototype: false }),
    ),
  }));

  it("as a schema is compiled or refused with a SchemaError, and then answers for any instance", () => {
    const numRuns = scaledCount("hostile schemas", 100_000);
    const property = fc.property(json, json, (schema, instance) => {
      try {
        const result = compileSchema(parsed(JSON.stringify(schema)), { maxSteps: 10_000 }).validate(instance);
        return result.valid || (result.problems.length > 0 && result.problems.length <= 20);
      } catch (error) {
        return error instanceof SchemaError && error.code !== "SCHEMA_LIMITS_INVALID";
      }
    });
    fc.assert(property, { numRuns });
  });
});
