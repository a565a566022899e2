import type { RequestId } from "./message.js";

/** A timer of a Scheduler. */
export interface SchedulerTimer {
  cancel(): void;
  /** Whether this timer alone keeps the process running. */
  hold(held: boolean): void;
}

/** Time, passed in so that tests need not wait. */
export interface Scheduler {
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Calls once, not before `delayMs` milliseconds (up to 2_147_483_647) have passed. */
  after(delayMs: number, callback: () => void): SchedulerTimer;
}

/** What `createPendingCalls` accepts. */
export interface PendingCallsOptions {
  /** For calls that name none: 1 to 86_400_000 milliseconds. Default 60_000. */
  readonly timeoutMs?: number | undefined;
  /** Hard ceiling that progress cannot move, for calls that name none: 1 to 604_800_000 milliseconds. Default 600_000. */
  readonly maxTotalMs?: number | undefined;
  /** Most calls in flight: 1 to 1_000_000. Default 16_384. Above: `TOO_MANY_CALLS`. */
  readonly maxCalls?: number | undefined;
  /** Answered ids that are remembered, so that a second answer is quiet: 0 to 1_000_000. Default 1_024. */
  readonly maxAnswered?: number | undefined;
  /** Ids given up (timeout, abort) and remembered, so that a late answer is quiet: 0 to 1_000_000. Default 16_384. */
  readonly maxGivenUp?: number | undefined;
  /** Default: `performance.now` and `setTimeout`. */
  readonly scheduler?: Scheduler | undefined;
}

/** How one call is waited for. */
export interface CallOptions {
  /** Silence after which the call is given up; progress starts it again. Rejects with `CALL_TIMEOUT`. */
  readonly timeoutMs?: number | undefined;
  /** Time after which the call is given up whatever progress came. Rejects with `CALL_TIMEOUT`. */
  readonly maxTotalMs?: number | undefined;
  /** Gives the call up; the promise rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
  /** Called once when the call times out, before its promise rejects: the place to tell the peer. */
  readonly onTimeout?: ((id: RequestId) => void) | undefined;
}

/** `late`: for a call that is finished, ignore it. `unknown`: no such call is remembered; the peer may be out of step. */
export type Delivery = "settled" | "late" | "unknown";

/** Matches answers to calls by id and its type. Memory is bounded by its options. */
export interface PendingCalls<T> {
  /**
   * Waits for the answer to `id`. Register before the request is sent.
   * Rejects with `CALL_TIMEOUT`, `CALL_ID_IN_USE`, `TOO_MANY_CALLS`, `CALLS_CLOSED`, the signal's reason, or the cause
   * that `reject`, `rejectAll` or `close` was given.
   */
  register(id: RequestId, options?: CallOptions): Promise<T>;
  /** Resolves the call. */
  settle(id: RequestId, value: T): Delivery;
  /** Rejects the call with this cause, unwrapped. Its id counts as answered. */
  reject(id: RequestId, cause: unknown): Delivery;
  /** Starts the call's timeout again, up to its ceiling. */
  progress(id: RequestId): "extended" | "late" | "unknown";
  /** Whether the call is in flight. */
  has(id: RequestId): boolean;
  /** Rejects all that are in flight with this one cause. Later calls may be registered. */
  rejectAll(cause: unknown): void;
  /** As `rejectAll`; from then on `register` rejects with `CALLS_CLOSED`, which has this cause. */
  close(cause: unknown): void;
  /** Calls in flight. */
  readonly size: number;
}

/** See `PendingCalls`. */
export function createPendingCalls<T>(options?: PendingCallsOptions): PendingCalls<T> {
  throw new Error(`not built yet: ${options?.timeoutMs}`);
}
