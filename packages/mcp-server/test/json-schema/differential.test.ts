import type { JsonValue } from "@berth/jsonrpc-framing";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { compileSchema } from "../../src/json-schema/index.js";

// What both support alike. Not here, since ajv 8.20 errs: `unevaluated…` (it counts what a branch that failed has
// evaluated), `contains` beside `prefixItems` (it lets an empty array pass), `if` alone, decimals in `multipleOf`. The
// official suite has them.
const name = fc.constantFrom("a", "b", "c");
const small = fc.integer({ min: 0, max: 3 });
const instance = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "medium" },
    fc.constantFrom<unknown>(null, true, false, 0, 1, 2, -1, 1.5, "", "a", "ab", "😀"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }).map((members) => ({ ...members })),
  ),
})).value;

type Tie = fc.LetrecTypedTie<{ schema: unknown }>;

const scalarKeywords = {
  type: fc.oneof(
    fc.constantFrom("string", "number", "integer", "object", "array", "null"),
    fc.constant(["string", "object"]),
  ),
  const: instance,
  enum: fc.array(instance, { minLength: 1, maxLength: 3 }),
  minimum: small,
  exclusiveMaximum: small,
  multipleOf: fc.integer({ min: 1, max: 3 }),
  minLength: small,
  maxLength: small,
  pattern: fc.constantFrom("^a", "b$", "a|b", "^.{1,2}$"),
  required: fc.uniqueArray(name, { maxLength: 2 }),
  minProperties: small,
  maxProperties: small,
  minItems: small,
  maxItems: small,
  uniqueItems: fc.boolean(),
  dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2 }),
  $ref: fc.constantFrom("#/$defs/a", "#/$defs/b", "#named"),
};

const nestedKeywords = (tie: Tie) => ({
  properties: fc.dictionary(name, tie("schema"), { maxKeys: 3 }),
  patternProperties: fc.dictionary(fc.constantFrom("^a", "b|c"), tie("schema"), { maxKeys: 2 }),
  additionalProperties: tie("schema"),
  propertyNames: tie("schema"),
  dependentSchemas: fc.dictionary(name, tie("schema"), { maxKeys: 2 }),
  prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
  items: tie("schema"),
  allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
  anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
  oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
  not: tie("schema"),
});

/** Never `if` alone: ajv then ignores it, though what it evaluated counts (Core § 10.2.2.1). */
const condition = (tie: Tie) => {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, in a value that nothing awaits
  return fc.record({ if: tie("schema"), then: tie("schema"), else: tie("schema") }, { requiredKeys: ["if", "then"] });
};
/** A handful of keywords: `fc.record` with all of them optional would rarely leave a schema that anything holds. */
function some(keywords: Readonly<Record<string, fc.Arbitrary<unknown>>>, maxLength: number): fc.Arbitrary<object> {
  const pairs = Object.entries(keywords).map(([keyword, value]) =>
    value.map((chosen): [string, unknown] => [keyword, chosen]),
  );
  return fc.array(fc.oneof(...pairs), { maxLength }).map((chosen) => Object.fromEntries(chosen));
}

const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthSize: "medium" },
    fc.boolean(),
    some(scalarKeywords, 2),
    fc.tuple(some(scalarKeywords, 1), some(nestedKeywords(tie), 3)).map(([a, b]) => ({ ...a, ...b })),
    fc.tuple(some(nestedKeywords(tie), 1), condition(tie)).map(([a, b]) => ({ ...a, ...b })),
  ),
}));
const contains = fc.record(
  { contains: schema, minContains: small, maxContains: small },
  { requiredKeys: ["contains"] },
);

const json = (value: unknown): JsonValue => {
  const copy: JsonValue = JSON.parse(JSON.stringify(value));
  return copy;
};

/** Undefined where ajv throws: the code that it made has a fault, or follows a reference to itself without end. */
function tryAjv<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    // Any error: TypeError and ReferenceError were seen of faulty code, RangeError of endless recursion.
    return undefined;
  }
}

it("says of any instance what ajv says", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, addUsedSchema: false });
  const instances = fc.array(instance, { minLength: 4, maxLength: 4 });
  const defs = fc.dictionary(fc.constantFrom("a", "b"), schema, { maxKeys: 2 });
  const root = fc.oneof(schema, contains);
  let valid = 0;
  let judged = 0;
  let drawn = 0;
  const property = fc.property(root, defs, instances, (body, extra, values) => {
    const $defs = { a: true, b: { type: "string" }, ...extra, named: { $anchor: "named", minimum: 1 } };
    const whole = { ...(typeof body === "object" ? body : { not: !body }), $defs };
    const ours = compileSchema(json(whole));
    const theirs = tryAjv(() => ajv.compile(whole));
    for (const value of values.map(json)) {
      const result = ours.validate(value);
      // A reference to itself has no meaning (Core § 9.4.1).
      if (!result.valid && result.exceeded !== undefined) continue;
      drawn += 1;
      const expected = theirs && tryAjv(() => theirs(value));
      if (expected === undefined) continue;
      judged += 1;
      if (result.valid) valid += 1;
      expect({ value, valid: result.valid }).toEqual({ value, valid: expected });
    }
  });
  fc.assert(property, { numRuns: scaledCount("schemas against ajv", 40_000) });
  expect(judged / drawn).toBeGreaterThan(0.98);
  // Both answers must be common, or the comparison says little.
  expect(valid / judged).toBeGreaterThan(0.1);
  expect(valid / judged).toBeLessThan(0.9);
}, 600_000);
