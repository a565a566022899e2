import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { JsonValue } from "@berth/jsonrpc-framing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { compileSchema, isSchemaError } from "../../src/json-schema/index.js";
import { metaSchemas } from "../../src/json-schema/meta-schema.js";

function readJson(path: string): JsonValue {
  const value: JsonValue = JSON.parse(readFileSync(path, "utf8"));
  return value;
}

/** The published meta-schemas, as ajv carries them. */
function published(): ReadonlyMap<string, JsonValue> {
  const folder = dirname(createRequire(import.meta.url).resolve("ajv/dist/refs/json-schema-2020-12/schema.json"));
  const vocabularies = readdirSync(join(folder, "meta")).map((name) => `meta/${name.replace(".json", "")}`);
  const documents = ["schema", ...vocabularies].map((name): [string, JsonValue] => {
    return [`https://json-schema.org/draft/2020-12/${name}`, readJson(join(folder, `${name}.json`))];
  });
  return new Map(documents);
}

/** Keywords and values, right and wrong; without references and anchors, of which no meta-schema can see all faults. */
const keywords = {
  texts: ["$comment", "title", "description", "format", "contentEncoding", "contentMediaType", "pattern"],
  flags: ["deprecated", "readOnly", "writeOnly", "uniqueItems"],
  lists: ["examples", "enum", "required", "type"],
  numbers: ["multipleOf", "maximum", "exclusiveMinimum", "maxLength", "minItems", "minContains", "maxProperties"],
  single: [
    "not",
    "if",
    "then",
    "else",
    "items",
    "contains",
    "additionalProperties",
    "unevaluatedItems",
    "contentSchema",
  ],
  several: ["allOf", "anyOf", "oneOf", "prefixItems"],
  maps: ["properties", "patternProperties", "dependentSchemas", "$defs", "dependentRequired", "definitions"],
};
const right = (tie: fc.LetrecTypedTie<{ schema: unknown }>): readonly fc.Arbitrary<readonly [string, unknown]>[] => [
  fc.tuple(fc.constantFrom(...keywords.texts), fc.constantFrom("a", "b")),
  fc.tuple(fc.constantFrom(...keywords.flags), fc.boolean()),
  fc.tuple(fc.constantFrom(...keywords.lists), fc.uniqueArray(fc.constantFrom("null", "string"), { minLength: 1 })),
  fc.tuple(fc.constantFrom(...keywords.numbers), fc.constantFrom(1, 2, 5)),
  fc.tuple(fc.constantFrom(...keywords.single), tie("schema")),
  fc.tuple(fc.constantFrom(...keywords.several), fc.array(tie("schema"), { minLength: 1, maxLength: 2 })),
  fc.tuple(fc.constantFrom(...keywords.maps), fc.dictionary(fc.constantFrom("a", "b"), tie("schema"), { maxKeys: 2 })),
];
const wrong = fc.tuple(
  fc.constantFrom(...Object.values(keywords).flat()),
  fc.constantFrom<unknown>(-1, 1.5, "1", null, [], [1], ["a", "a"], {}, true),
);
const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.boolean(),
    fc
      .array(fc.oneof({ weight: 12, arbitrary: fc.oneof(...right(tie)) }, { weight: 4, arbitrary: wrong }), {
        maxLength: 4,
      })
      .map(Object.fromEntries),
  ),
}));

const onlyIn = { $ref: "https://json-schema.org/draft/2020-12/schema" };

describe("the meta-schema of 2020-12", () => {
  it("has the published documents, under the published names", () => {
    expect([...metaSchemas.keys()].toSorted()).toEqual([...published().keys()].toSorted());
  });

  it("holds for itself and for each published document", () => {
    const { validate } = compileSchema(onlyIn);
    for (const document of [...metaSchemas.values(), ...published().values()])
      expect(validate(document)).toEqual({ valid: true });
  });

  it("holds for what the published one holds for, and the compiler accepts just that", () => {
    const ours = compileSchema(onlyIn);
    const theirs = compileSchema(onlyIn, undefined, published());
    let valid = 0;
    const numRuns = scaledCount("schemas against the meta-schema", 60_000);
    const property = fc.property(schema, (drawn) => {
      const candidate: JsonValue = JSON.parse(JSON.stringify(drawn));
      const expected = theirs.validate(candidate).valid;
      if (expected) valid += 1;
      expect(ours.validate(candidate).valid).toBe(expected);
      expect(isCompiled(candidate)).toBe(expected);
    });
    fc.assert(property, { numRuns });
    expect(valid).toBeGreaterThan(numRuns / 10);
    expect(valid).toBeLessThan((numRuns * 9) / 10);
  });
});

function isCompiled(candidate: JsonValue): boolean {
  try {
    compileSchema(candidate);
    return true;
  } catch (error) {
    if (isSchemaError(error)) return false;
    throw error;
  }
}
