import type { DocumentCheck, DocumentFault } from "./document.js";

/** What is read of an issue; zod's fit. */
export interface SchemaIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** With `code: "unrecognized_keys"`: which. */
  readonly keys?: readonly string[] | undefined;
}

/** What is needed of a schema; zod's fit. */
export interface DocumentSchema<T> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly SchemaIssue[] } };
}

/** Checks a value by a schema. Each unknown key is a fault of its own. */
export function checkForm<T>(schema: DocumentSchema<T>, value: unknown): DocumentCheck<T> {
  const result = schema.safeParse(value);
  return result.success
    ? { ok: true, value: result.data }
    : { ok: false, faults: result.error.issues.flatMap(faultsOf) };
}

function faultsOf({ code, path, message, keys }: SchemaIssue): readonly DocumentFault[] {
  if (code === "unrecognized_keys" && keys !== undefined) {
    return keys.map((key) => ({ path: [...path, key], message: `${[...path, key].join(".")} is an unknown key` }));
  }
  return [{ path, message: `${path.join(".") || "the document"}: ${message}` }];
}
