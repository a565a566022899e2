import type { LoggedEntry } from "@berth/audit-chain";

/** Whose entries are asked for. What is left out is not asked about. */
export interface AskedAbout {
  readonly lease?: string | undefined;
  readonly owner?: string | undefined;
  readonly session?: string | undefined;
}

/** Whether an entry is about what was asked for. */
export type IsAbout = (entry: LoggedEntry) => boolean;

/**
 * Reads entries once, to know which leases are meant: most entries of a lease say neither its owner's name nor its session's.
 * The result is for a second reading, from the beginning.
 */
export async function findAskedAbout(asked: AskedAbout, entries: AsyncIterable<LoggedEntry>): Promise<IsAbout> {
  const { lease: wanted, owner, session } = asked;
  if (wanted === undefined && owner === undefined && session === undefined) return () => true;
  const named = new Map<string, { owner: unknown; sessions: Set<unknown> }>();
  for await (const { entry } of entries) {
    const { lease } = entry;
    if (typeof lease !== "string" || (wanted !== undefined && lease !== wanted)) continue;
    const seen = named.get(lease) ?? { owner: undefined, sessions: new Set() };
    seen.owner = entry["owner"] ?? seen.owner;
    if (entry["name"] !== undefined) seen.sessions.add(entry["name"]);
    named.set(lease, seen);
  }
  const isMeant = (lease: unknown): boolean => {
    const seen = typeof lease === "string" ? named.get(lease) : undefined;
    if (seen === undefined || (owner !== undefined && seen.owner !== owner)) return false;
    return session === undefined || seen.sessions.has(session);
  };
  return ({ entry }) => isMeant(entry["lease"]);
}
