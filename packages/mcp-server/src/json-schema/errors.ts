/** Reasons a schema cannot be used. */
export type SchemaErrorCode =
  | "SCHEMA_INVALID"
  | "SCHEMA_TOO_LARGE"
  | "SCHEMA_DIALECT"
  | "SCHEMA_REF"
  | "SCHEMA_PATTERN"
  | "SCHEMA_LIMITS_INVALID";

/**
 * Thrown when a schema cannot be compiled. Match on `code`; the message names the place and, where one was passed, the
 * limit. `SCHEMA_INVALID`: a keyword has a value that JSON Schema 2020-12 does not allow, or the value is not JSON.
 * `SCHEMA_TOO_LARGE`: a limit of `SchemaLimits` is passed. `SCHEMA_DIALECT`: `$schema` names another dialect.
 * `SCHEMA_REF`: a reference has no target in the schema or the known documents; nothing is ever fetched.
 * `SCHEMA_PATTERN`: a pattern is no regular expression, or none that can be matched in linear time.
 * `SCHEMA_LIMITS_INVALID`: a limit of the caller is unknown or out of its range.
 */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
  readonly code: SchemaErrorCode;
  /** JSON Pointer of the place in the schema; "" for the schema as a whole. At most 512 characters. */
  readonly pointer: string;
  constructor(code: SchemaErrorCode, message: string, pointer = "", options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.pointer = pointer;
  }
}

/** Recognises a SchemaError from any installed copy of the package, where `instanceof` fails. */
export function isSchemaError(value: unknown): value is SchemaError {
  return value instanceof Error && value.name === "SchemaError" && "code" in value;
}

const maxPointerLength = 512;

/** A SchemaError that names its place. Pointers hold text of the schema's author, so they are cut. */
export function schemaFault(code: SchemaErrorCode, pointer: string, what: string, options?: ErrorOptions): SchemaError {
  const place = pointer.length > maxPointerLength ? `${pointer.slice(0, maxPointerLength - 1)}…` : pointer;
  return new SchemaError(code, `schema at ${JSON.stringify(place)}: ${what}`, place, options);
}
