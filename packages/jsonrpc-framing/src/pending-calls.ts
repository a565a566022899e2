import { createDeadlineTimer } from "./deadline-timer.js";
import { FramingError } from "./errors.js";
import type { RequestId } from "./message.js";
import { type Range, readCount, refuseUnknown } from "./options.js";
import { createRecentIds, type RecentIds } from "./recent-ids.js";
import { type Scheduler, systemScheduler } from "./scheduler.js";

/** What `createPendingCalls` accepts. */
export interface PendingCallsOptions {
  /** For calls that name none: 1 to 86_400_000 milliseconds. Default 60_000. */
  readonly timeoutMs?: number | undefined;
  /** Hard ceiling that progress cannot move, for calls that name none: 1 to 604_800_000 milliseconds. Default 600_000. */
  readonly maxTotalMs?: number | undefined;
  /** Most calls in flight: 1 to 1_000_000. Default 16_384. Above: `TOO_MANY_CALLS`. */
  readonly maxCalls?: number | undefined;
  /** Answered ids that are remembered, so that a second answer is quiet: 0 to 65_536. Default 1_024. */
  readonly maxAnswered?: number | undefined;
  /** Ids given up (timeout, abort) and remembered, so that a late answer is quiet: 0 to 65_536. Default 16_384. */
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
export interface PendingCalls<T> extends AsyncDisposable {
  /**
   * Waits for the answer to `id`. Register before the request is sent. An abort or timeout ends the wait, not the
   * peer's work: tell the peer.
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
  /** As `rejectAll`; from then on `register` rejects with `CALLS_CLOSED`, which has this cause. May be called again. */
  close(cause?: unknown): void;
  /** Calls in flight. */
  readonly size: number;
}

const counts = {
  timeoutMs: { min: 1, max: 86_400_000, default: 60_000 },
  maxTotalMs: { min: 1, max: 604_800_000, default: 600_000 },
  maxCalls: { min: 1, max: 1_000_000, default: 16_384 },
  maxAnswered: { min: 0, max: 65_536, default: 1_024 },
  maxGivenUp: { min: 0, max: 65_536, default: 16_384 },
} as const satisfies Record<string, Range>;

/** A call in flight. */
interface Call<T> {
  readonly id: RequestId;
  readonly options: CallOptions | undefined;
  readonly resolve: (value: T) => void;
  readonly reject: (cause: unknown) => void;
  readonly timeoutMs: number;
  /** The latest moment to which progress can move the deadline. */
  readonly ceiling: number;
  deadline: number;
  onAbort: (() => void) | undefined;
}

/** See `PendingCalls`. One table; the functions below are the steps of a call's life. */
export function createPendingCalls<T>(options?: PendingCallsOptions): PendingCalls<T> {
  refuseUnknown(options, [...Object.keys(counts), "scheduler"]);
  const waits: Waits = {
    timeoutMs: readCount("timeoutMs", options?.timeoutMs, counts.timeoutMs),
    maxTotalMs: readCount("maxTotalMs", options?.maxTotalMs, counts.maxTotalMs),
  };
  const maxCalls = readCount("maxCalls", options?.maxCalls, counts.maxCalls);
  const answered = createRecentIds(readCount("maxAnswered", options?.maxAnswered, counts.maxAnswered));
  const givenUp = createRecentIds(readCount("maxGivenUp", options?.maxGivenUp, counts.maxGivenUp));
  const scheduler = options?.scheduler ?? systemScheduler;
  const timer = createDeadlineTimer(scheduler, expire);
  const calls = new Map<RequestId, Call<T>>();
  let closed: FramingError | undefined;

  function finish(call: Call<T>, memory: RecentIds): void {
    calls.delete(call.id);
    memory.add(call.id);
    if (call.onAbort !== undefined) call.options?.signal?.removeEventListener("abort", call.onAbort);
    if (calls.size === 0) timer.hold(false);
  }
  function remembered(id: RequestId): "late" | "unknown" {
    return answered.has(id) || givenUp.has(id) ? "late" : "unknown";
  }
  function expire(now: number): number {
    const due: Call<T>[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const call of calls.values()) {
      if (call.deadline <= now) due.push(call);
      else if (call.deadline < next) next = call.deadline;
    }
    for (const call of due) if (calls.get(call.id) === call) timeOut(call);
    return next;
  }
  function timeOut(call: Call<T>): void {
    finish(call, givenUp);
    let cause: unknown;
    try {
      call.options?.onTimeout?.(call.id);
    } catch (error) {
      cause = error; // reaches the caller with the rejection, and cannot keep other calls from timing out
    }
    call.reject(timedOut(call, cause));
  }
  function refusal(id: RequestId): FramingError | undefined {
    if (closed !== undefined) return new FramingError("CALLS_CLOSED", closed.message, { cause: closed.cause });
    if (calls.has(id)) return new FramingError("CALL_ID_IN_USE", `the id ${JSON.stringify(id)} is in flight`);
    if (calls.size < maxCalls) return undefined;
    return new FramingError("TOO_MANY_CALLS", `${maxCalls} calls are in flight`);
  }
  function add(call: Call<T>): void {
    calls.set(call.id, call);
    if (calls.size === 1) timer.hold(true);
    timer.require(call.deadline);
    const signal = call.options?.signal;
    if (signal === undefined) return;
    call.onAbort = () => {
      finish(call, givenUp);
      call.reject(signal.reason);
    };
    signal.addEventListener("abort", call.onAbort, { once: true });
  }
  function rejectAll(cause: unknown): void {
    for (const call of [...calls.values()]) {
      finish(call, givenUp);
      call.reject(cause);
    }
  }
  function close(cause?: unknown): void {
    closed ??= new FramingError("CALLS_CLOSED", "the calls are closed", { cause });
    rejectAll(cause ?? closed);
    timer.cancel();
  }

  return {
    register(id, callOptions) {
      const { timeoutMs, maxTotalMs } = callOptions === undefined ? waits : readWaits(callOptions, waits);
      if (callOptions?.signal?.aborted === true) return Promise.reject(callOptions.signal.reason);
      const refused = refusal(id);
      if (refused !== undefined) return Promise.reject(refused);
      const now = scheduler.now();
      const ceiling = now + maxTotalMs;
      const deadline = Math.min(now + timeoutMs, ceiling);
      return new Promise((resolve, reject) => {
        add({ id, options: callOptions, resolve, reject, timeoutMs, ceiling, deadline, onAbort: undefined });
      });
    },
    settle(id, value) {
      const call = calls.get(id);
      if (call === undefined) return remembered(id);
      finish(call, answered);
      call.resolve(value);
      return "settled";
    },
    reject(id, cause) {
      const call = calls.get(id);
      if (call === undefined) return remembered(id);
      finish(call, answered);
      call.reject(cause);
      return "settled";
    },
    progress(id) {
      const call = calls.get(id);
      if (call === undefined) return remembered(id);
      // Only ever later: the timer is left alone, and looks again when it fires.
      call.deadline = Math.min(scheduler.now() + call.timeoutMs, call.ceiling);
      return "extended";
    },
    has: (id) => calls.has(id),
    rejectAll,
    close,
    [Symbol.asyncDispose]: async () => close(),
    get size() {
      return calls.size;
    },
  };
}

/** How long a call is waited for. */
interface Waits {
  readonly timeoutMs: number;
  readonly maxTotalMs: number;
}

/** A default ceiling does not cut a call that names a longer timeout. */
function readWaits(options: CallOptions, defaults: Waits): Waits {
  const timeoutMs = readCount("timeoutMs", options.timeoutMs ?? defaults.timeoutMs, counts.timeoutMs);
  const ceilingMs = options.maxTotalMs ?? Math.max(defaults.maxTotalMs, timeoutMs);
  return { timeoutMs, maxTotalMs: readCount("maxTotalMs", ceilingMs, counts.maxTotalMs) };
}

function timedOut<T>(call: Call<T>, cause: unknown): FramingError {
  const limit = call.deadline === call.ceiling ? "before its ceiling" : `for ${call.timeoutMs} ms`;
  return new FramingError("CALL_TIMEOUT", `the call ${JSON.stringify(call.id)} had no answer ${limit}`, { cause });
}
