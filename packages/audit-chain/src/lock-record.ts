import type { LockOwner } from "./errors.js";

/** What stands in a lock file. */
export interface LockRecord extends LockOwner {
  readonly released: boolean;
  /** Whether the owner holds a flock(2) on the file for as long as it lives. */
  readonly flock: boolean;
}

/** Where the digit after `{"released":` stands. A release overwrites this one byte, which needs no room on the disk. */
export const releasedOffset: number = '{"released":'.length;

/** The text of a lock that is held. */
export function recordText(owner: LockOwner, flock: boolean): string {
  return `${JSON.stringify({ released: 0, flock, ...owner })}\n`;
}

/** Reads a lock file; undefined when it is not one. */
export function readRecord(text: string): LockRecord | undefined {
  const value = parse(text);
  if (typeof value !== "object" || value === null) return undefined;
  const { released, flock, pid, startTime, bootId, pidNamespace, host, since }: Members = value;
  // From 1: kill(2) takes 0 and negative numbers for groups of processes.
  const known =
    typeof pid === "number" &&
    Number.isSafeInteger(pid) &&
    pid >= 1 &&
    typeof host === "string" &&
    typeof since === "string";
  if (!known || !isTextOrNull(startTime) || !isTextOrNull(bootId) || !isTextOrNull(pidNamespace)) return undefined;
  return { released: released === 1, flock: flock === true, pid, startTime, bootId, pidNamespace, host, since };
}

type Members = { readonly [Name in keyof LockRecord]?: unknown };

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === "string";

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller takes it for a lock whose owner is unknown
  }
}
