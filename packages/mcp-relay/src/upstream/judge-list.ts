import {
  compareDefinitions,
  type Definition,
  type DefinitionChange,
  definitionDigest,
  readDefinition,
} from "../drift.js";
import { isRelayError } from "../errors.js";
import type { PinnedDefinitions } from "../server-policy.js";
import type { FetchedList, ListEntry } from "./fetch-list.js";

/** `pinned`: equal to its pin. `unpinned`: nothing of this kind was ever pinned. `changed`, `new`: not what was accepted. */
export type Verdict = "pinned" | "unpinned" | "changed" | "new";

/** One element with what is thought of it. */
export interface JudgedEntry extends ListEntry {
  readonly verdict: Verdict;
  readonly expected?: string | undefined;
  readonly measured?: string | undefined;
}

/** A list compared with what was accepted. */
export interface JudgedList extends Omit<FetchedList, "entries"> {
  readonly entries: readonly JudgedEntry[];
  readonly byName: ReadonlyMap<string, JudgedEntry>;
  readonly changes: readonly DefinitionChange[];
  /** Names that came more than once. */
  readonly repeated: ReadonlySet<string>;
}

/**
 * Compares a list with the pins of its kind; undefined pins: none were ever accepted. A name that comes twice is never `pinned`, since
 * clients differ in which of the two they use; without pins the first one stays.
 */
export function judgeList(
  fetched: FetchedList,
  nameMember: "name" | "uri" | "uriTemplate",
  pins: PinnedDefinitions | undefined,
): JudgedList {
  const repeated = repeatedNames(fetched.entries);
  if (pins === undefined || nameMember === "uri") {
    const entries = firstOfEach(fetched.entries).map((entry) => ({ ...entry, verdict: "unpinned" as const }));
    const complete = fetched.complete && repeated.size === 0;
    return { ...fetched, entries, complete, byName: byName(entries), changes: [], repeated };
  }
  const live = fetched.entries.map((entry) => definitionOf(entry, nameMember));
  const entries = fetched.entries.map((entry, index): JudgedEntry => {
    const expected = Object.hasOwn(pins, entry.name) ? pins[entry.name]?.digest : undefined;
    const measured = live[index]?.digest;
    const equal = expected === measured && !repeated.has(entry.name);
    return { ...entry, verdict: expected === undefined ? "new" : equal ? "pinned" : "changed", expected, measured };
  });
  const changes = compareDefinitions(pins, live, nameMember);
  return { ...fetched, entries, byName: byName(entries), changes, repeated };
}

/** An element that cannot be made canonical (a member twice, too deep) has the digest of its raw bytes and so equals no pin. */
function definitionOf(entry: ListEntry, nameMember: "name" | "uriTemplate"): Definition {
  const bytes = entry.frame.subarray(entry.span.start, entry.span.end);
  try {
    return readDefinition(bytes, nameMember);
  } catch (error) {
    if (!isRelayError(error)) throw error;
    const digest = definitionDigest(Buffer.from(bytes).toString("latin1"));
    return { name: entry.name, digest, definition: JSON.stringify({ [nameMember]: entry.name, unreadable: digest }) };
  }
}

/** Names that come more than once. */
export function repeatedNames(entries: readonly ListEntry[]): Set<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { name } of entries) (seen.has(name) ? repeated : seen).add(name);
  return repeated;
}

function firstOfEach(entries: readonly ListEntry[]): ListEntry[] {
  const seen = new Set<string>();
  return entries.filter(({ name }) => !seen.has(name) && seen.add(name));
}

function byName(entries: readonly JudgedEntry[]): Map<string, JudgedEntry> {
  return new Map(entries.map((entry) => [entry.name, entry]));
}
