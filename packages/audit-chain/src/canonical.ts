import type { JsonValue } from "./json-value.js";

/**
 * RFC 8785 canonical form, of I-JSON (RFC 7493) only: refuses what two readers could read differently.
 * @throws {ChainError} `NOT_I_JSON` for a number that is not finite, -0, an integer beyond 2^53 - 1, a lone surrogate,
 *   more than 64 levels, or a value that JSON has not.
 */
export function canonicalJson(_value: JsonValue): string {
  throw new Error("not built yet");
}
