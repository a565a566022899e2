import { isLeaseError } from "../errors.js";

const maxLength = 500;

/** Bounded text for the operator, without payload. */
export function faultText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (isLeaseError(error) ? `${error.code}: ${text}` : text).slice(0, maxLength);
}
