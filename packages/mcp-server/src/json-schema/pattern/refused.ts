/** Why a pattern is refused; becomes a SchemaError of the same code. */
export class PatternRefused extends Error {
  readonly code: "SCHEMA_PATTERN" | "SCHEMA_TOO_LARGE";
  constructor(message: string, code: PatternRefused["code"] = "SCHEMA_PATTERN", options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
