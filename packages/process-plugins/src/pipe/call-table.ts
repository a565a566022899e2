import type { Envelope, Scheduler, SchedulerTimer } from "@berth/jsonrpc-framing";
import { type AskedIds, createAskedIds, type StrayAnswer } from "./asked-ids.js";

/** How a call ended. */
export type CallEnd =
  /** A result or an error: the plugin's bytes. They are valid until the callback returns. */
  | { readonly kind: "answered"; readonly bytes: Uint8Array; readonly envelope: Envelope }
  /** No answer in time. */
  | { readonly kind: "timeout" }
  /** The caller gave it up. */
  | { readonly kind: "cancelled" }
  /** It could not be sent, or the plugin ended. */
  | { readonly kind: "failed"; readonly cause: Error };

/** A call that waits for its answer. */
export interface WaitingCall {
  readonly method: string;
  /** Takes a frame back that was not handed to the system yet. */
  readonly unsent: AbortController;
  /** Called once. */
  readonly onEnd: (end: CallEnd, id: number) => void;
}

/** Matches answers to calls by id; one number space for both halves. */
export interface CallTable {
  readonly size: number;
  /** @param timeoutMs Undefined: it waits as long as the plugin lives. */
  add(call: WaitingCall, timeoutMs: number | undefined, onTimeout: (id: number) => void): number;
  /** Of a call that waits. */
  methodOf(id: number): string | undefined;
  /** The call of an answer, which ends with it; or what an answer means that nobody waits for. */
  answer(id: number, bytes: Uint8Array, envelope: Envelope): "taken" | StrayAnswer;
  /** Ends a call without its answer. False where it has ended. */
  giveUp(id: number, end: CallEnd): boolean;
  failAll(cause: Error): void;
}

interface Entry {
  readonly call: WaitingCall;
  readonly timer: SchedulerTimer | undefined;
}

export function createCallTable(scheduler: Scheduler, ids: AskedIds = createAskedIds()): CallTable {
  const entries = new Map<number, Entry>();

  const take = (id: number): WaitingCall | undefined => {
    const entry = entries.get(id);
    entries.delete(id);
    entry?.timer?.cancel();
    return entry?.call;
  };
  const giveUp = (id: number, end: CallEnd): boolean => {
    const call = take(id);
    if (call === undefined) return false;
    ids.giveUp(id);
    call.unsent.abort();
    call.onEnd(end, id);
    return true;
  };
  return {
    get size() {
      return entries.size;
    },
    add: (call, timeoutMs, onTimeout) => {
      const id = ids.take();
      const timer = timeoutMs === undefined ? undefined : scheduler.after(timeoutMs, () => onTimeout(id));
      entries.set(id, { call, timer });
      return id;
    },
    methodOf: (id) => entries.get(id)?.call.method,
    answer: (id, bytes, envelope) => {
      const call = take(id);
      if (call === undefined) return ids.judge(id);
      call.onEnd({ kind: "answered", bytes, envelope }, id);
      return "taken";
    },
    giveUp,
    failAll: (cause) => {
      for (const id of [...entries.keys()]) giveUp(id, { kind: "failed", cause });
    },
  };
}
