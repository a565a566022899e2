import { type CanonicalRules, canonicalText } from "./canonical.js";
import type { EntryBody, EntryInput } from "./entry.js";
import { ChainError } from "./errors.js";
import { noHash } from "./line.js";
import { isTime } from "./time.js";

const typeForm = /^[a-z][a-z0-9._-]{0,63}$/;
const maxSessionLength = 200;
const reserved = ["seq", "time", "prev", "hash", "clock"] as const;

/** Eight levels inside the entry, which is one itself. `__proto__` would set a prototype where readers copy members. */
export const entryRules: CanonicalRules = { maxDepth: 9, refusedMember: "__proto__" };

/** What the chain adds to an entry. */
export interface Slot {
  readonly seq: number;
  readonly prev: string;
  readonly time: string;
  readonly clock: "back" | "stepped" | undefined;
}

/**
 * Canonical text of an entry.
 * @throws {ChainError} `ENTRY_INVALID`, `NOT_I_JSON`.
 */
export function entryText(input: EntryInput, { seq, prev, time, clock }: Slot, rules: CanonicalRules): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) throw invalid("it is not an object");
  for (const name of reserved) if (Object.hasOwn(input, name)) throw invalid(`its member ${name} is the chain's own`);
  // One copy of its own members, so that what is checked is what is stored, whatever getters and prototypes do.
  const members = { ...input, seq, prev, time, clock };
  const { type, session } = members;
  if (typeof type !== "string" || !typeForm.test(type)) throw invalid(`its type ${quoted(type)} is not a name`);
  if (session !== undefined && !isSession(session)) {
    throw invalid(`its session ${quoted(session)} is not 1 to 200 characters`);
  }
  if ("hash" in members) throw invalid("its member hash is the chain's own");
  return canonicalText(members, rules);
}

/** Whether a parsed body is an entry. */
export function isEntryBody(value: unknown): value is EntryBody {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { seq, time, type, session, prev, clock }: { readonly [Name in keyof EntryBody]?: unknown } = value;
  return (
    typeof seq === "number" &&
    Number.isSafeInteger(seq) &&
    seq >= 1 &&
    isTime(time) &&
    typeof type === "string" &&
    typeForm.test(type) &&
    typeof prev === "string" &&
    prev.length === noHash.length &&
    (session === undefined || isSession(session)) &&
    (clock === undefined || clock === "back" || clock === "stepped") &&
    !Object.hasOwn(value, "hash") &&
    !Object.hasOwn(value, "__proto__")
  );
}

const isSession = (value: unknown): boolean =>
  typeof value === "string" && value.length > 0 && value.length <= maxSessionLength;

const quoted = (value: unknown): string => JSON.stringify(String(value).slice(0, 100));

const invalid = (why: string): ChainError => new ChainError("ENTRY_INVALID", `the entry was refused: ${why}`);
