import { type Bounds, type LimitRanges, limitReader } from "../limit-reader.js";
import { SchemaError } from "./errors.js";

/** Bounds of compiling and of validating. Each is a whole number; README § Limits lists ranges and what happens on excess. */
export interface SchemaLimits {
  /** Length of the schema as canonical JSON text, in UTF-8 bytes: 16 to 16_777_216. Default 262_144. */
  readonly maxSchemaBytes?: number | undefined;
  /** Nesting of arrays and objects in the schema: 1 to 256. Default 64. */
  readonly maxDepth?: number | undefined;
  /** Schemas within the schema and the known documents it refers to: 1 to 100_000. Default 5_000. */
  readonly maxSubschemas?: number | undefined;
  /** Length of one `pattern` or name in `patternProperties`, in UTF-16 units: 1 to 16_384. Default 2_048. */
  readonly maxPatternLength?: number | undefined;
  /** States of the automata of all patterns of a schema together: 1 to 1_000_000. Default 20_000. */
  readonly maxPatternStates?: number | undefined;
  /** Nesting of arrays and objects in an instance, as far as the schema looks into it: 1 to 512. Default 128. */
  readonly maxInstanceDepth?: number | undefined;
  /** Schemas applied within each other, counting references and combinators: 16 to 1_000. Default 500. */
  readonly maxEvaluationDepth?: number | undefined;
  /** Work of one `validate`, in steps (a keyword applied, a member looked at, a pattern's state visited): 100 to 1_000_000_000. Default 10_000_000. */
  readonly maxSteps?: number | undefined;
  /** Problems told of one instance: 1 to 1_000. Default 20. */
  readonly maxProblems?: number | undefined;
  /** Compiled schemas that one compiler keeps: 0 to 100_000. Default 1_000. The oldest unused goes first. */
  readonly maxCachedSchemas?: number | undefined;
}

/** SchemaLimits with defaults filled in. */
export type SchemaBounds = Bounds<SchemaLimits>;

const ranges = {
  maxSchemaBytes: { min: 16, max: 16_777_216, preset: 262_144 },
  maxDepth: { min: 1, max: 256, preset: 64 },
  maxSubschemas: { min: 1, max: 100_000, preset: 5_000 },
  maxPatternLength: { min: 1, max: 16_384, preset: 2_048 },
  maxPatternStates: { min: 1, max: 1_000_000, preset: 20_000 },
  maxInstanceDepth: { min: 1, max: 512, preset: 128 },
  maxEvaluationDepth: { min: 16, max: 1_000, preset: 500 },
  maxSteps: { min: 100, max: 1_000_000_000, preset: 10_000_000 },
  maxProblems: { min: 1, max: 1_000, preset: 20 },
  maxCachedSchemas: { min: 0, max: 100_000, preset: 1_000 },
} as const satisfies LimitRanges<SchemaLimits>;

/** Checks a caller's limits and fills in defaults. @throws {SchemaError} `SCHEMA_LIMITS_INVALID` */
export function readLimits(limits: SchemaLimits | undefined): SchemaBounds {
  const bound = limitReader(limits, ranges, (message) => {
    throw new SchemaError("SCHEMA_LIMITS_INVALID", message);
  });
  return {
    maxSchemaBytes: bound("maxSchemaBytes"),
    maxDepth: bound("maxDepth"),
    maxSubschemas: bound("maxSubschemas"),
    maxPatternLength: bound("maxPatternLength"),
    maxPatternStates: bound("maxPatternStates"),
    maxInstanceDepth: bound("maxInstanceDepth"),
    maxEvaluationDepth: bound("maxEvaluationDepth"),
    maxSteps: bound("maxSteps"),
    maxProblems: bound("maxProblems"),
    maxCachedSchemas: bound("maxCachedSchemas"),
  };
}
