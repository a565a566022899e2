/**
 * `reserved` (written before the worker exists; also a warm one without owner) → `active` → `releasing` → `released`;
 * `lost`: the provider says that the worker is gone. `reserved` → `releasing` when it is not used. Nothing else.
 */
export type LeaseState = "reserved" | "active" | "releasing" | "released" | "lost";

/** Who or what ended a lease. */
export type LeaseEndReason =
  | "released"
  | "hard-limit"
  | "idle"
  | "expired"
  | "memory"
  | "crash"
  | "disk"
  | "output"
  | "deadline"
  | "create-failed"
  | "discarded"
  | "operator"
  | "shutdown"
  | "recovery"
  | "lost";

/** One row of the store. Times are wall clock milliseconds since 1970 (UTC). */
export interface LeaseRecord {
  /** 128 random bits, 32 hexadecimal digits. */
  readonly id: string;
  /** Principal that owns it. Undefined only while `reserved`: a warm worker. Set once, never changed. */
  readonly owner: string | undefined;
  readonly profile: string;
  readonly provider: string;
  readonly worker: string;
  readonly state: LeaseState;
  /** Grows with every write: the fencing token. Starts at 1. */
  readonly generation: number;
  readonly createdAt: number;
  /** End of the hard lifetime unless renewed. Never decreases except by release. */
  readonly expiresAt: number;
  /** Never past this: `createdAt` of the activation plus the maximum lifetime. */
  readonly ceilingAt: number;
  /** Ends when nothing was done for so long; undefined for never. */
  readonly idleMs: number | undefined;
  readonly lastUsedAt: number;
  /** Which process of ours made it. */
  readonly host: string;
  readonly cleanupAttempts: number;
  readonly endReason: LeaseEndReason | undefined;
  /** Bounded text for the operator, no payload: at most 500 characters. */
  readonly lastError: string | undefined;
  /** What the caller wants to find again: a name of a session and so on. At most 4 KiB as JSON. */
  readonly labels: Readonly<Record<string, string>>;
}
