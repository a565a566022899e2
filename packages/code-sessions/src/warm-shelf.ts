import type { WarmLease } from "@berth/environment-leases";
import type { StartedWorker } from "./session-parts.js";

/** A worker that is up in an environment without owner. */
export interface WarmWorker<W extends StartedWorker> {
  readonly lease: WarmLease;
  readonly worker: W;
  /** It ended while it waited. */
  isGone: boolean;
}

/** The warm workers of one profile, and those that are being started. */
export interface Shelf<W extends StartedWorker> {
  readonly profile: string;
  /** Longest waiting first. */
  readonly ready: WarmWorker<W>[];
  /** Being started, and nobody waits for them yet. */
  readonly unclaimed: Promise<WarmWorker<W>>[];
  /** Failed starts since one was used. */
  failures: number;
  /** Nothing is started for nobody in particular until then. */
  retry: { cancel(): void } | undefined;
  /** Was not used lately from then on. */
  expiry: { cancel(): void } | undefined;
}

export function createShelf<W extends StartedWorker>(profile: string): Shelf<W> {
  return { profile, ready: [], unclaimed: [], failures: 0, retry: undefined, expiry: undefined };
}

/** Its environment can do less than its profile says, and cannot change that: it is for who needs one now. */
export function isRestricted({ lease }: WarmWorker<StartedWorker>): boolean {
  return lease.environment.restriction !== undefined;
}

/** Takes it out of a list that it may be in. */
export function takeOut<T>(list: T[], item: T): boolean {
  const at = list.indexOf(item);
  if (at !== -1) list.splice(at, 1);
  return at !== -1;
}
