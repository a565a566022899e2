import type { JsonValue } from "@berth/jsonrpc-framing";
import { schemaFault } from "./errors.js";
import { quoted } from "./run.js";
import { isObject } from "./values.js";

/** The dialect of a schema without `$schema`, and the only one besides those that known documents define with it. */
export const dialect2020 = "https://json-schema.org/draft/2020-12/schema";

const prefix = "https://json-schema.org/draft/2020-12/vocab/";

/** Vocabularies of 2020-12 with the keywords that this engine reads, beside those that identify schemas. */
const keywordsOf = {
  core: ["$ref", "$dynamicRef", "$comment", "$defs", "definitions"],
  applicator: [
    ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "prefixItems", "items", "contains"],
    ...["properties", "patternProperties", "additionalProperties", "propertyNames"],
  ],
  unevaluated: ["unevaluatedItems", "unevaluatedProperties"],
  validation: [
    ...["type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"],
    ...["maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains"],
    ...["maxProperties", "minProperties", "required", "dependentRequired"],
  ],
  "meta-data": ["title", "description", "deprecated", "readOnly", "writeOnly", "examples"],
  "format-annotation": ["format"],
  content: ["contentEncoding", "contentMediaType"],
} as const satisfies Record<string, readonly string[]>;

/** The keywords that a dialect gives a meaning. */
export type Dialect = ReadonlySet<string>;

const wholeDialect: Dialect = new Set(Object.values(keywordsOf).flat());

/**
 * The dialect that `$schema` names: 2020-12, or one that a known document defines by the vocabularies of 2020-12.
 * @throws {SchemaError} `SCHEMA_DIALECT`, `SCHEMA_INVALID`
 */
export function readDialect(name: JsonValue | undefined, documents: Documents, pointer: string): Dialect {
  if (name === undefined) return wholeDialect;
  if (typeof name !== "string") throw schemaFault("SCHEMA_INVALID", pointer, "$schema must be a string");
  const uri = name.endsWith("#") ? name.slice(0, -1) : name;
  if (uri === dialect2020) return wholeDialect;
  const metaSchema = documents.get(uri);
  const vocabularies = isObject(metaSchema) ? metaSchema["$vocabulary"] : undefined;
  if (isObject(vocabularies)) return readVocabularies(vocabularies, pointer);
  throw schemaFault("SCHEMA_DIALECT", pointer, `$schema is ${quoted(name)}; only ${dialect2020} is supported`);
}

/** Documents that a schema may refer to, by absolute URI without fragment. */
export type Documents = ReadonlyMap<string, JsonValue>;

function readVocabularies(vocabularies: Readonly<Record<string, unknown>>, pointer: string): Dialect {
  const dialect = new Set<string>();
  for (const [uri, required] of Object.entries(vocabularies)) {
    const entry = Object.entries(keywordsOf).find(([name]) => uri === prefix + name);
    if (entry === undefined && required === true) {
      throw schemaFault("SCHEMA_DIALECT", pointer, `the vocabulary ${quoted(uri)} is not supported`);
    }
    for (const keyword of entry?.[1] ?? []) dialect.add(keyword);
  }
  return dialect;
}
