/**
 * JSON Schema 2020-12 by interpretation. An interpreter of our own, since the one library that makes no code,
 * @cfworker/json-schema 4.1.6, cannot be bounded from outside: it has no place to count work in, gives patterns to
 * `new RegExp` (`(a+)+$` hangs the process), compares items of `uniqueItems` pairwise, recurses without limit on
 * `{"$ref":"#"}`, knows no `$dynamicRef`, reads schemas through their prototypes and writes hidden members into them.
 */
import type { JsonValue } from "@berth/jsonrpc-framing";
import { buildNodes } from "./build.js";
import type { Documents } from "./dialect.js";
import { digestOf } from "./digest.js";
import { copySchema, type OwnSchema } from "./json-copy.js";
import { readLimits, type SchemaBounds, type SchemaLimits } from "./limits.js";
import { evaluate, type Node } from "./node.js";
import { createLibrary } from "./resources.js";
import { LimitReached, Run, type SchemaProblem, type ValidationLimit } from "./run.js";

/** The answer of `validate`. */
export type SchemaResult =
  | { readonly valid: true }
  | {
      readonly valid: false;
      /** At least one, at most `maxProblems`. */
      readonly problems: readonly SchemaProblem[];
      /** The limit that ended the validation; nothing else is then known of the instance. */
      readonly exceeded?: ValidationLimit | undefined;
    };

/** A schema ready for use. It holds a copy: later changes of the source do not reach it. */
export interface CompiledSchema {
  /** `sha256:` and 64 hex digits: of the schema's canonical JSON text. Known documents are not part of it. */
  readonly digest: string;
  /**
   * Whether an instance, a value as `JSON.parse` makes it, holds. Never throws for such a value: one that cannot be
   * judged within the limits is not valid.
   * `format` and `content…` are annotations, as 2020-12 has it by default. Members that are `undefined` count as absent.
   */
  validate(instance: unknown): SchemaResult;
}

/** Compiles the schemas of one server; nothing is shared between compilers. */
export interface SchemaCompiler {
  /**
   * The compiled form, from the cache when a schema of the same canonical text, hence of the same digest, was compiled before.
   * @throws {SchemaError} see `compileSchema`
   */
  compile(schema: JsonValue): CompiledSchema;
}

const noDocuments: Documents = new Map();

/**
 * Compiles a schema of JSON Schema 2020-12. Makes no code and fetches nothing: `$ref` finds its target in the schema, in
 * `documents`, by absolute URI without fragment, or in the meta-schemas of 2020-12.
 * @throws {SchemaError} `SCHEMA_INVALID`, `SCHEMA_TOO_LARGE`, `SCHEMA_DIALECT`, `SCHEMA_REF`, `SCHEMA_PATTERN`, `SCHEMA_LIMITS_INVALID`
 */
export function compileSchema(
  schema: JsonValue,
  limits?: SchemaLimits,
  documents: Documents = noDocuments,
): CompiledSchema {
  const bounds = readLimits(limits);
  return compileOwn(copySchema(schema, bounds), bounds, documents);
}

/**
 * A compiler with a cache of `maxCachedSchemas` schemas by their canonical text. `documents` are read when first referred to and
 * must not change.
 * @throws {SchemaError} `SCHEMA_LIMITS_INVALID`
 */
export function createSchemaCompiler(limits?: SchemaLimits, documents: Documents = noDocuments): SchemaCompiler {
  const bounds = readLimits(limits);
  const cache = new Map<string, CompiledSchema>();
  const compile = (schema: JsonValue): CompiledSchema => {
    const own = copySchema(schema, bounds);
    const compiled = cache.get(own.text) ?? compileOwn(own, bounds, documents);
    // Deleted first, so that the map's order is that of use.
    cache.delete(own.text);
    cache.set(own.text, compiled);
    for (const oldest of cache.keys()) {
      if (cache.size <= bounds.maxCachedSchemas) break;
      cache.delete(oldest);
    }
    return compiled;
  };
  return { compile };
}

function compileOwn(own: OwnSchema, bounds: SchemaBounds, documents: Documents): CompiledSchema {
  const root = buildNodes(createLibrary(own.value, documents, bounds), bounds);
  const { text } = own;
  return Object.freeze({
    get digest() {
      return digestOf(text);
    },
    validate: (instance: unknown) => validate(root, instance, bounds),
  });
}

const holds: SchemaResult = Object.freeze({ valid: true });

/** Asks for the verdict alone first; only an instance that does not hold pays for the wording of problems. */
function validate(root: Node, instance: unknown, bounds: SchemaBounds): SchemaResult {
  try {
    if (evaluate(root, instance, new Run(bounds, false), undefined)) return holds;
  } catch (error) {
    const limit = limitOf(error);
    const message = `cannot be checked within ${bounds[limit]} (${limit})`;
    return { valid: false, problems: [{ path: "", keyword: limit, message }], exceeded: limit };
  }
  return { valid: false, problems: explain(root, instance, bounds) };
}

/** @throws the error itself, when no limit ended the run */
function limitOf(error: unknown): ValidationLimit {
  if (error instanceof LimitReached) return error.limit;
  // The stack is short when the caller is deep in recursion already: then fewer levels fit than the limit allows.
  if (error instanceof RangeError) return "maxEvaluationDepth";
  throw error;
}

function explain(root: Node, instance: unknown, bounds: SchemaBounds): readonly SchemaProblem[] {
  const run = new Run(bounds, true);
  try {
    evaluate(root, instance, run, undefined);
  } catch (error) {
    limitOf(error);
    // The verdict stands already; the problems found so far may be of branches, and are told as they are.
  }
  return run.problems.length > 0 ? run.problems : [{ path: "", keyword: "schema", message: "does not hold" }];
}
