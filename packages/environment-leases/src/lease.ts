import { LeaseError } from "./errors.js";
import type { LeaseChange } from "./store.js";

/**
 * `reserved` (written before the worker exists; also a warm one without owner) → `active` → `releasing` → `released`;
 * `lost`: the provider says that the worker is gone. `reserved` → `releasing` when it is not used. Nothing else.
 */
export type LeaseState = "reserved" | "active" | "releasing" | "released" | "lost";

const legalSteps: Readonly<Record<LeaseState, readonly LeaseState[]>> = {
  reserved: ["active", "releasing"],
  active: ["releasing", "lost"],
  releasing: ["released"],
  released: [],
  lost: [],
};

/** Whether a row in this state never changes again. */
export function isTerminal(state: LeaseState): boolean {
  return legalSteps[state].length === 0;
}

/**
 * Who or what ended a lease. `expired`: it was not renewed. `hard-limit`: it had reached its ceiling. `idle`: nothing was
 * done for so long. `memory`, `disk`, `output`: over that limit. `deadline`: its clock inside, before ours. `crash`: its
 * worker ended by itself. `create-failed`: there never was a usable worker. `discarded`: made, then not used. `released`: by
 * its owner. `recovery`: a later process found it. `lost`: its worker was gone, nobody knows why.
 */
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
  /** When it became terminal: its worker's absence was confirmed then, or told. Undefined before. */
  readonly endedAt: number | undefined;
  /** Bounded text for the operator, no payload: at most 500 characters. */
  readonly lastError: string | undefined;
  /** What the caller wants to find again: a name of a session and so on. At most 4 KiB as JSON. */
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The row after one write, its generation grown by 1. What every store does before it writes.
 * @throws {LeaseError} `LEASE_ENDED` for a terminal row, `GENERATION_STALE` for another generation than the row's.
 * @throws {Error} for a change that no lease makes: an illegal step, another owner, a shorter life.
 */
export function changeRecord(record: LeaseRecord, generation: number, change: LeaseChange): LeaseRecord {
  if (isTerminal(record.state)) throw new LeaseError("LEASE_ENDED", `lease ${record.id} is ${record.state}`);
  if (record.generation !== generation) {
    const message = `lease ${record.id} is at generation ${record.generation}, the write was for ${generation}`;
    throw new LeaseError("GENERATION_STALE", message, { cure: "Read the lease again and decide anew." });
  }
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const next: LeaseRecord = { ...record, ...given, generation: generation + 1 };
  const fault = faultOfStep(record, next);
  if (fault !== undefined) throw new Error(`lease ${record.id}: ${fault}`);
  return Object.freeze(next);
}

function faultOfStep(from: LeaseRecord, to: LeaseRecord): string | undefined {
  if (from.state !== to.state && !legalSteps[from.state].includes(to.state))
    return `no step ${from.state} → ${to.state}`;
  if (from.owner !== to.owner && !isActivation(from, to)) return "its owner never changes";
  if (to.state === "active" && to.owner === undefined) return "an active lease has an owner";
  if (isTerminal(to.state) !== (to.endedAt !== undefined)) return "endedAt belongs to a terminal row";
  // An activation starts the life of a lease: what a reserved row has is the bound of its creation, or of a warm worker.
  if (isActivation(from, to) || to.state === "releasing") return undefined;
  return to.expiresAt < from.expiresAt || to.ceilingAt !== from.ceilingAt ? "its life never shortens" : undefined;
}

function isActivation(from: LeaseRecord, to: LeaseRecord): boolean {
  return from.state === "reserved" && to.state === "active";
}

/** Why a row's time is over at this wall clock; undefined while it is not, and for rows that already end. */
export function dueReason(record: LeaseRecord, now: number): "hard-limit" | "expired" | "idle" | undefined {
  if (record.state !== "active" && record.state !== "reserved") return undefined;
  if (record.expiresAt <= now) return record.expiresAt >= record.ceilingAt ? "hard-limit" : "expired";
  return record.idleMs !== undefined && record.lastUsedAt + record.idleMs <= now ? "idle" : undefined;
}

/** Expiry after a renewal: counted from now, never earlier than it was, never past the ceiling. */
export function renewedExpiry(
  life: { readonly expiresAt: number; readonly ceilingAt: number },
  now: number,
  ttlMs: number,
): number {
  return Math.min(Math.max(life.expiresAt, now + ttlMs), life.ceilingAt);
}
