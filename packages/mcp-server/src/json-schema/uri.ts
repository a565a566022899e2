import { schemaFault } from "./errors.js";
import { quoted } from "./run.js";

/** Each `$id` is kept with its base, so that a long base would be kept once for each. */
const maxUriLength = 4_096;

/**
 * A reference as an absolute URI (RFC 3986 § 5). It is only ever compared.
 * @throws {SchemaError} `SCHEMA_REF`, `SCHEMA_TOO_LARGE`
 */
export function resolveUri(reference: string, base: string, pointer: string): string {
  if (reference.length + base.length > maxUriLength) {
    throw schemaFault("SCHEMA_TOO_LARGE", pointer, `the URI and its base exceed ${maxUriLength} characters`);
  }
  try {
    return new URL(reference, base).href;
  } catch (cause) {
    throw schemaFault("SCHEMA_REF", pointer, `${quoted(reference)} is not a URI reference`, { cause });
  }
}

/** The part before the fragment, and the fragment with its percent-encoding undone. @throws {SchemaError} `SCHEMA_REF` */
export function splitUri(uri: string, pointer: string): readonly [uri: string, fragment: string] {
  const mark = uri.indexOf("#");
  if (mark < 0) return [uri, ""];
  try {
    return [uri.slice(0, mark), decodeURIComponent(uri.slice(mark + 1))];
  } catch (cause) {
    throw schemaFault("SCHEMA_REF", pointer, `${quoted(uri)} has a malformed fragment`, { cause });
  }
}
