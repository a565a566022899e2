import type { Run } from "./run.js";

/**
 * What of one object or array the keywords of a schema have evaluated, for `unevaluatedProperties` and
 * `unevaluatedItems` (JSON Schema 2020-12, Core § 11). Kept only where one of the two can ask for it.
 */
export interface Seen {
  readonly names: Set<string>;
  /** Items evaluated by `contains`, by index. */
  readonly indexes: Set<number>;
  /** Items from the first on that are evaluated. */
  itemCount: number;
}

export function createSeen(): Seen {
  return { names: new Set(), indexes: new Set(), itemCount: 0 };
}

/** Adds what a schema that holds has evaluated to what the schema that applied it has. */
export function mergeSeen(from: Seen, into: Seen, run: Run): void {
  run.spend(from.names.size + from.indexes.size);
  for (const name of from.names) into.names.add(name);
  for (const index of from.indexes) into.indexes.add(index);
  into.itemCount = Math.max(into.itemCount, from.itemCount);
}
