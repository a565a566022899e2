export {
  type CompiledSchema,
  compileSchema,
  createSchemaCompiler,
  type SchemaCompiler,
  type SchemaResult,
} from "./compile.js";
export type { Documents } from "./dialect.js";
export { isSchemaError, SchemaError, type SchemaErrorCode } from "./errors.js";
export type { SchemaLimits } from "./limits.js";
export type { SchemaProblem, ValidationLimit } from "./run.js";
