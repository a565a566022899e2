import type { Leases, Scheduler } from "@berth/environment-leases";
import type { SessionEnd } from "./errors.js";
import type { Outcome } from "./outcome.js";
import type { ExecuteOptions, Session, SessionStatus } from "./session.js";

/** Bounds of a set of sessions. */
export interface SessionLimits {
  /** Named sessions at once, of each owner: 1 to 1_024. Default 5. Session-less calls have their own. */
  readonly maxSessions?: number | undefined;
  /** Named sessions at once, of all owners together, and so of one: 1 to 4_096. Default 64, or `maxSessions` when that is more. */
  readonly maxTotalSessions?: number | undefined;
  /** Session-less calls at once: 1 to 256. Default 4. */
  readonly maxSessionless?: number | undefined;
  /** Session-less calls that wait for a worker, half of them of one owner at most: 0 to 10_000. Default 64. */
  readonly maxSessionlessQueued?: number | undefined;
  /** Warm workers of each profile: 0 to 64. Default 2. */
  readonly warmWorkers?: number | undefined;
  /** Calls waiting in one session: 1 to 1_024. Default 32. */
  readonly maxQueued?: number | undefined;
  /** 1 KiB to 16 MiB. Default 1 MiB. */
  readonly maxCodeBytes?: number | undefined;
  /** Text kept of stdout and stderr together: 1 KiB to 64 MiB. Default 1 MiB. The rest goes to a spill file in the workspace. */
  readonly maxOutputBytes?: number | undefined;
  /** Spill of one call: 0 to 1 GiB. Default 16 MiB. */
  readonly maxSpillBytes?: number | undefined;
  /** Forms of all displays of one call together: 0 to 64 MiB. Default 8 MiB. */
  readonly maxDisplayBytes?: number | undefined;
  /** 1 KiB to 64 MiB. Default 16 MiB. */
  readonly maxFileBytes?: number | undefined;
  /** Default 60_000 ms. */
  readonly defaultCallMs?: number | undefined;
  /** Ceiling of one call: 1 to 86_400_000 ms. Default 600_000. */
  readonly maxCallMs?: number | undefined;
  /** From interrupt to kill: 0 to 60_000 ms. Default 2_000. */
  readonly interruptMs?: number | undefined;
  /** Outcomes kept for idempotency keys in one session: 1 to 10_000. Default 256. */
  readonly maxOutcomes?: number | undefined;
  /**
   * All outcomes kept for idempotency keys of session-less calls, and those of one session: 1 KiB to 1 GiB. Default 64 MiB. The
   * oldest go, of the owner with most.
   */
  readonly maxOutcomeBytes?: number | undefined;
  /** How long an ended session is told of: 0 to 86_400_000 ms. Default 600_000. */
  readonly endedMs?: number | undefined;
  /** Ended sessions told of, of each owner: 0 to 65_536. Default 256. */
  readonly maxEnded?: number | undefined;
  /** Until a worker is up: 1 to 600_000 ms. Default 30_000. */
  readonly startMs?: number | undefined;
  /** Profiles that have warm workers at once: 1 to 64. Default 4. Those that were used longest ago lose theirs. */
  readonly maxWarmProfiles?: number | undefined;
  /** How long after its last use a profile keeps its warm workers: 1_000 to 86_400_000 ms. Default 600_000. */
  readonly warmProfileMs?: number | undefined;
  /** How long `close` may take: 0 to 600_000 ms. Default 30_000. */
  readonly closeMs?: number | undefined;
}

/** What happened to a piece of code, for an audit record: digests and sizes only. */
export type SessionEvent =
  | {
      readonly kind: "call.intent";
      readonly session: string | undefined;
      readonly owner: string;
      readonly lease: string;
      readonly call: string;
      readonly codeDigest: string;
      readonly codeBytes: number;
    }
  | {
      readonly kind: "call.outcome";
      readonly session: string | undefined;
      readonly owner: string;
      readonly lease: string;
      readonly call: string;
      readonly outcome: Outcome;
    }
  | { readonly kind: "session.started"; readonly session: string; readonly owner: string; readonly lease: string }
  | {
      readonly kind: "session.ended";
      readonly session: string;
      readonly owner: string;
      readonly lease: string;
      readonly end: SessionEnd;
    };

export interface SessionsOptions {
  readonly leases: Leases;
  /** Profile of a session's lease. Warm workers are kept for each profile that was used lately, so that an own folder of one owner is never in another's. */
  readonly profile: string | ((owner: string) => string);
  /** Awaited before code is handed over for `call.intent`: a rejection refuses the call. The others are told afterwards. */
  readonly record?: ((event: SessionEvent) => Promise<void> | void) | undefined;
  readonly onFault?: ((fault: unknown) => void) | undefined;
  readonly limits?: SessionLimits | undefined;
  /** Hard lifetime and idle limit of a session without its own. Defaults: 86_400_000 and 3_600_000 ms. */
  readonly ttlMs?: number | undefined;
  readonly idleMs?: number | undefined;
  /** Owners whose profile has warm workers from the start and for good. With one `profile` for all: everybody's. */
  readonly expectedOwners?: readonly string[] | undefined;
  /** Wall clock, milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Monotonic clock and timers. Default: the system's. */
  readonly scheduler?: Scheduler | undefined;
  /** Default `crypto.randomBytes`. */
  readonly randomBytes?: ((size: number) => Uint8Array) | undefined;
}

export interface StartOptions {
  readonly owner: string;
  /** 1 to 64 ASCII letters, digits, dots, dashes, underscores, first a letter or digit. Default `session_` and 12 hexadecimal digits. */
  readonly id?: string | undefined;
  readonly ttlMs?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** For an operator's figures. */
export interface SessionCounts {
  readonly sessions: number;
  readonly warm: number;
  readonly warming: number;
  readonly sessionless: number;
  readonly sessionlessQueued: number;
}

/**
 * Sessions by owner and name. Two owners may use the same name; neither learns of the other's. While `maxTotalSessions`
 * is not reached, what is refused with `SESSION_LIMIT_REACHED` depends on the owner's own sessions only.
 */
export interface Sessions extends AsyncDisposable {
  /** `SESSION_EXISTS`, `SESSION_LIMIT_REACHED`, `SESSION_ID_INVALID`, `WORKER_NOT_STARTED`, `SESSIONS_CLOSED`. */
  start(options: StartOptions): Promise<Session>;
  /** Living sessions only: `SESSION_NOT_FOUND`, `SESSION_STOPPED`, or `SESSION_DEAD` with its `end`, as long as that is told. */
  get(owner: string, id: string): Session;
  /** Also a session that ended a while ago. Undefined when there was none. */
  status(owner: string, id: string): SessionStatus | undefined;
  /** Living sessions, sorted by id. */
  list(owner: string): readonly SessionStatus[];
  /** Every owner's: for the operator. */
  listAll(): readonly (SessionStatus & { readonly owner: string })[];
  /** In a fresh warm worker, used once. Named sessions never take its place. `SESSIONS_BUSY` when too many wait. */
  executeOnce(owner: string, options: ExecuteOptions): Promise<Outcome>;
  /** Workers that are up and wait for an owner, and session-less calls that run and wait. */
  counts(): SessionCounts;
  /** Refuses new work, stops all sessions and ends all warm workers, within `closeMs`. The leases are closed by who made them. */
  close(): Promise<void>;
}
