import type { Envelope, Scheduler, SchedulerTimer } from "@berth/jsonrpc-framing";
import type { RelayFault } from "../wire-errors.js";

/** What a server answered. */
export interface ServerAnswer {
  readonly kind: "response" | "error";
  readonly frame: Uint8Array;
  readonly envelope: Envelope;
}

/** How a request to a server ended. */
export type Answer = ServerAnswer | { readonly kind: "fault"; readonly fault: RelayFault };

/** How long one request is waited for. */
export interface Waits {
  /** Silence after which it is given up, in milliseconds; progress starts it again. */
  readonly silenceMs: number;
  /** Time after which it is given up whatever progress came. */
  readonly totalMs: number;
}

/** What the table needs to know of one request. */
export interface PendingRequest {
  readonly waits: Waits;
  /** Called exactly once, in the order in which answers arrived. */
  settle(answer: Answer): void;
}

/** Requests to one child that wait for their answer, by the relay's own ids. One whose time is up is taken out and given to `onDue`. */
export interface PendingRequests {
  /** Gives the request its id: 1, 2, 3 … within one child. */
  add(request: PendingRequest): number;
  /** The request with this id, which then counts as answered. `late`: issued, no longer waited for. `unknown`: never issued. */
  take(id: unknown): PendingRequest | "late" | "unknown";
  /** Starts its silence again. */
  touch(id: number): void;
  /** Takes all that wait, oldest first. */
  takeAll(): readonly PendingRequest[];
  readonly size: number;
}

interface Entry {
  readonly request: PendingRequest;
  readonly lastAt: number;
  dueAt: number;
}

/**
 * Why this is not `createPendingCalls` of jsonrpc-framing: answers must be passed on in their order of arrival among the notifications
 * around them, so the owner is called at once and not by a promise; and since ids count up, "issued before" is a comparison, so that late
 * answers of any age are told from foreign ones without remembering them. One timer serves all requests, set to the earliest deadline that
 * was ever due; it is not moved when a request is answered, so a call costs no timer.
 */
export function createPendingRequests(
  scheduler: Scheduler,
  onDue: (id: number, request: PendingRequest) => void,
): PendingRequests {
  const entries = new Map<number, Entry>();
  let lastId = 0;
  let timer: { readonly handle: SchedulerTimer; readonly at: number } | undefined;

  const arm = (dueAt: number): void => {
    if (timer !== undefined && timer.at <= dueAt) return;
    timer?.handle.cancel();
    const handle = scheduler.after(Math.max(0, dueAt - scheduler.now()), sweep);
    handle.hold(false);
    timer = { handle, at: dueAt };
  };

  const sweep = (): void => {
    timer = undefined;
    const now = scheduler.now();
    let earliest = Number.POSITIVE_INFINITY;
    const due = [...entries].filter(([, { dueAt }]) => dueAt <= now);
    for (const [id] of due) entries.delete(id);
    for (const { dueAt } of entries.values()) earliest = Math.min(earliest, dueAt);
    for (const [id, { request }] of due) onDue(id, request);
    if (earliest !== Number.POSITIVE_INFINITY) arm(earliest);
  };

  return {
    add(request) {
      const now = scheduler.now();
      const lastAt = now + request.waits.totalMs;
      const dueAt = Math.min(now + request.waits.silenceMs, lastAt);
      lastId += 1;
      entries.set(lastId, { request, lastAt, dueAt });
      arm(dueAt);
      return lastId;
    },
    take(id) {
      if (typeof id !== "number" || !Number.isInteger(id) || id < 1 || id > lastId) return "unknown";
      const entry = entries.get(id);
      entries.delete(id);
      return entry?.request ?? "late";
    },
    touch(id) {
      const entry = entries.get(id);
      if (entry !== undefined) entry.dueAt = Math.min(scheduler.now() + entry.request.waits.silenceMs, entry.lastAt);
    },
    takeAll() {
      const requests = [...entries.values()].map(({ request }) => request);
      entries.clear();
      timer?.handle.cancel();
      timer = undefined;
      return requests;
    },
    get size() {
      return entries.size;
    },
  };
}
