import { anObject, checkOptions, textsOf } from "../option-check.js";
import { optionFault } from "./errors.js";

/** One scope (RFC 6749 § 3.3): printable ASCII without space, quote and backslash, so that it needs no escaping in a header. */
export function isScope(value: unknown): value is string {
  return typeof value === "string" && value.length <= maxScopeLength && scopePattern.test(value);
}
const maxScopeLength = 256;
const scopePattern = /^[!#-[\]-~]+$/;

/** @throws {AuthError} `AUTH_OPTIONS_INVALID` for what is no list, and when one is none. */
export function readScopes(option: string, scopes: readonly string[] = []): readonly string[] {
  // A text is no list of its letters.
  checkOptions({ [option]: scopes }, { [option]: textsOf("scopes") }, { fault: optionFault });
  for (const scope of scopes) {
    if (isScope(scope)) continue;
    optionFault(
      `${option} holds a text that is no scope (RFC 6749 § 3.3: printable, without spaces and quotes; at most ${maxScopeLength} characters)`,
    );
  }
  return [...new Set(scopes)];
}

/**
 * Whether what somebody holds is enough, where one scope may stand for others (MCP 2026-07-28, Authorization § Scope Challenge Handling).
 * @throws {AuthError} `AUTH_OPTIONS_INVALID`.
 */
export function createScopeCheck(
  required: readonly string[],
  implied: Readonly<Record<string, readonly string[]>> = {},
): (held: readonly string[]) => boolean {
  checkOptions({ impliedScopes: implied }, { impliedScopes: anObject }, { fault: optionFault });
  const grants = new Map(Object.entries(implied));
  for (const [broad, narrow] of grants) {
    readScopes("impliedScopes", [broad]);
    readScopes(`impliedScopes.${broad}`, narrow);
  }
  const enough = required.map((scope) => impliersOf(scope, grants));
  return (held) => enough.every((any) => held.some((scope) => any.has(scope)));
}

/** The scope, and all that imply it, through others as well. */
function impliersOf(scope: string, grants: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set([scope]);
  // A set may grow while it is walked through: what is added is visited too.
  for (const known of found) {
    for (const [broad, narrow] of grants) if (narrow.includes(known)) found.add(broad);
  }
  return found;
}
