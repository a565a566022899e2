import type { SchedulerTimer } from "@berth/jsonrpc-framing";
import { VenvHostError } from "../errors.js";
import type { Call } from "./call.js";
import type { WorkerTerms } from "./worker-terms.js";

/** Calls that wait their turn: bounded in number, bytes and time. */
export interface CallQueue {
  readonly size: number;
  /** @throws {VenvHostError} `WORKER_BUSY`. */
  push(call: Call): void;
  /** The next one that somebody still waits for. */
  shift(): Call | undefined;
  rejectAll(reason: unknown): void;
}

/** Bytes of waiting tasks, in tasks of the largest size. */
const MAX_LARGEST_TASKS = 4;

export function createCallQueue({ limits, scheduler }: WorkerTerms): CallQueue {
  const waiting = new Map<Call, SchedulerTimer>();
  const maxBytes = limits.maxContentBytes * MAX_LARGEST_TASKS;
  const maxWaitMs = limits.startTimeoutMs + limits.callTimeoutMs;
  let bytes = 0;

  const remove = (call: Call): void => {
    const timer = waiting.get(call);
    if (timer === undefined) return;
    timer.cancel();
    waiting.delete(call);
    bytes -= call.line.length;
  };
  const expire = (call: Call): void => {
    const message = `${maxWaitMs} ms long the call waited behind others, and was not sent`;
    call.reject(new VenvHostError("WORKER_TIMEOUT", message, { timeoutMs: maxWaitMs, step: "wait" }));
    remove(call);
  };
  return {
    get size() {
      return waiting.size;
    },
    push: (call) => {
      if (waiting.size >= limits.maxPendingCalls || bytes + call.line.length > maxBytes) {
        throw new VenvHostError("WORKER_BUSY", `${waiting.size} calls of ${bytes} bytes wait already`);
      }
      waiting.set(
        call,
        scheduler.after(maxWaitMs, () => expire(call)),
      );
      bytes += call.line.length;
      // Aborted while it waits: its place is given to others.
      call.answer.then(
        () => remove(call),
        () => remove(call),
      );
    },
    shift: () => {
      for (const call of waiting.keys()) {
        remove(call);
        if (!call.isSettled) return call;
      }
      return undefined;
    },
    rejectAll: (reason) => {
      for (const call of [...waiting.keys()]) {
        call.reject(reason);
        remove(call);
      }
    },
  };
}
