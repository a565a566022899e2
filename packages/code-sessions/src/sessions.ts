import type { Leases } from "@berth/environment-leases";
import type { SessionEnd } from "./errors.js";
import type { Outcome } from "./outcome.js";
import type { ExecuteOptions, Session, SessionStatus } from "./session.js";

/** Bounds of a set of sessions. */
export interface SessionLimits {
  /** Named sessions at once, all owners together: 1 to 1_024. Default 5. Session-less calls have their own. */
  readonly maxSessions?: number | undefined;
  /** Session-less calls at once: 1 to 256. Default 4. */
  readonly maxSessionless?: number | undefined;
  /** Session-less calls that wait for a worker: 0 to 10_000. Default 64. */
  readonly maxSessionlessQueued?: number | undefined;
  /** Warm workers: 0 to 64. Default 2. */
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
  /** How long and how many ended sessions are told of: default 600_000 ms and 256. */
  readonly endedMs?: number | undefined;
  readonly maxEnded?: number | undefined;
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
}

export interface StartOptions {
  readonly owner: string;
  /** 1 to 64 ASCII letters, digits, dots, dashes, underscores, first a letter or digit. Default `session_` and 12 hexadecimal digits. */
  readonly id?: string | undefined;
  readonly ttlMs?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sessions by owner and name. Two owners may use the same name; neither learns of the other's. `SESSION_LIMIT_REACHED`
 * tells only that the cap is reached.
 */
export interface Sessions extends AsyncDisposable {
  start(options: StartOptions): Promise<Session>;
  /** Living sessions only. */
  get(owner: string, id: string): Session;
  /** Also a session that ended a while ago. Undefined when there was none. */
  status(owner: string, id: string): SessionStatus | undefined;
  /** Living sessions, sorted by id. */
  list(owner: string): readonly SessionStatus[];
  /** Every owner's: for the operator. */
  listAll(): readonly (SessionStatus & { readonly owner: string })[];
  /** In a fresh warm worker, used once. */
  executeOnce(owner: string, options: ExecuteOptions): Promise<Outcome>;
  close(): Promise<void>;
}
