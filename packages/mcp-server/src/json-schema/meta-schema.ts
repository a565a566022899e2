/**
 * The meta-schema of 2020-12 and its vocabularies (Core Appendix A), known to every compiler: a tool may take a schema
 * as an argument. Only what can fail: titles, defaults and comments are left out.
 */
import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { dialect2020 } from "./dialect.js";

const base = "https://json-schema.org/draft/2020-12/";
const schema = { $dynamicRef: "#meta" };
const schemas = { type: "object", additionalProperties: schema };
const text = { type: "string" };
const flag = { type: "boolean" };
const number = { type: "number" };
const count = { $ref: "#/$defs/nonNegativeInteger" };
const names = { $ref: "#/$defs/stringArray" };

function vocabulary(name: string, properties: JsonObject, $defs: JsonObject = {}): readonly [string, JsonValue] {
  const $id = `${base}meta/${name}`;
  const $vocabulary = { [`${base}vocab/${name}`]: true };
  return [
    $id,
    { $schema: dialect2020, $id, $vocabulary, $dynamicAnchor: "meta", type: ["object", "boolean"], properties, $defs },
  ];
}

const core = vocabulary(
  "core",
  {
    $id: { $ref: "#/$defs/uriReferenceString", pattern: "^[^#]*#?$" },
    $schema: { $ref: "#/$defs/uriString" },
    $ref: { $ref: "#/$defs/uriReferenceString" },
    $anchor: { $ref: "#/$defs/anchorString" },
    $dynamicRef: { $ref: "#/$defs/uriReferenceString" },
    $dynamicAnchor: { $ref: "#/$defs/anchorString" },
    $vocabulary: { type: "object", propertyNames: { $ref: "#/$defs/uriString" }, additionalProperties: flag },
    $comment: text,
    $defs: schemas,
  },
  {
    anchorString: { type: "string", pattern: "^[A-Za-z_][-A-Za-z0-9._]*$" },
    uriString: { type: "string", format: "uri" },
    uriReferenceString: { type: "string", format: "uri-reference" },
  },
);

const keywordsOfOneSchema = "items contains additionalProperties propertyNames if then else not".split(" ");
const applicator = vocabulary(
  "applicator",
  {
    ...Object.fromEntries(keywordsOfOneSchema.map((keyword) => [keyword, schema])),
    prefixItems: { $ref: "#/$defs/schemaArray" },
    properties: schemas,
    patternProperties: { ...schemas, propertyNames: { format: "regex" } },
    dependentSchemas: schemas,
    allOf: { $ref: "#/$defs/schemaArray" },
    anyOf: { $ref: "#/$defs/schemaArray" },
    oneOf: { $ref: "#/$defs/schemaArray" },
  },
  { schemaArray: { type: "array", minItems: 1, items: schema } },
);

const validation = vocabulary(
  "validation",
  {
    type: {
      anyOf: [
        { $ref: "#/$defs/simpleTypes" },
        { type: "array", items: { $ref: "#/$defs/simpleTypes" }, minItems: 1, uniqueItems: true },
      ],
    },
    ...{ const: true, enum: { type: "array", items: true }, multipleOf: { type: "number", exclusiveMinimum: 0 } },
    ...{ maximum: number, exclusiveMaximum: number, minimum: number, exclusiveMinimum: number },
    ...{ maxLength: count, minLength: count, pattern: { type: "string", format: "regex" } },
    ...{ maxItems: count, minItems: count, uniqueItems: flag, maxContains: count, minContains: count },
    ...{ maxProperties: count, minProperties: count, required: names },
    dependentRequired: { type: "object", additionalProperties: names },
  },
  {
    nonNegativeInteger: { type: "integer", minimum: 0 },
    simpleTypes: { enum: ["array", "boolean", "integer", "null", "number", "object", "string"] },
    stringArray: { type: "array", items: text, uniqueItems: true },
  },
);

const others = [
  vocabulary("unevaluated", { unevaluatedItems: schema, unevaluatedProperties: schema }),
  vocabulary("meta-data", {
    ...{ title: text, description: text, default: true, deprecated: flag, readOnly: flag, writeOnly: flag },
    examples: { type: "array", items: true },
  }),
  vocabulary("format-annotation", { format: text }),
  vocabulary("content", { contentEncoding: text, contentMediaType: text, contentSchema: schema }),
];
const vocabularies = [core, applicator, validation, ...others];

const whole: JsonValue = {
  $schema: dialect2020,
  $id: dialect2020,
  $vocabulary: Object.fromEntries(vocabularies.map(([uri]) => [uri.replace("/meta/", "/vocab/"), true])),
  $dynamicAnchor: "meta",
  allOf: vocabularies.map(([$ref]) => ({ $ref })),
  type: ["object", "boolean"],
  // Keywords of earlier drafts, so that nobody gives their names another meaning.
  properties: {
    definitions: schemas,
    dependencies: {
      type: "object",
      additionalProperties: { anyOf: [schema, { $ref: "meta/validation#/$defs/stringArray" }] },
    },
    $recursiveAnchor: { $ref: "meta/core#/$defs/anchorString" },
    $recursiveRef: { $ref: "meta/core#/$defs/uriReferenceString" },
  },
};

/** The documents by URI. */
export const metaSchemas: ReadonlyMap<string, JsonValue> = new Map([[dialect2020, whole], ...vocabularies]);
