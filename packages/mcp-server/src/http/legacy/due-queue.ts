import type { Scheduler, SchedulerTimer } from "@berth/jsonrpc-framing";

/**
 * Things that are due a fixed time after they were last touched. One timer serves all of them, and never keeps the process running: ten thousand
 * streams or sessions cost ten thousand entries of a map, not ten thousand timers.
 */
export interface DueQueue<T> {
  readonly size: number;
  /** Puts it in, or back to the end. */
  touch(item: T): void;
  /** Takes it out, if it is in. */
  delete(item: T): void;
  /** What is due first. */
  first(): T | undefined;
  /** Forgets everything. */
  close(): void;
}

export function createDueQueue<T>(scheduler: Scheduler, delayMs: number, onDue: (item: T) => void): DueQueue<T> {
  // The delay is the same for all, so the order of insertion is the order of being due.
  const dueAt = new Map<T, number>();
  let timer: SchedulerTimer | undefined;

  const arm = (waitMs: number): void => {
    timer = scheduler.after(Math.max(1, Math.ceil(waitMs)), fire);
    timer.hold(false);
  };
  const fire = (): void => {
    timer = undefined;
    const now = scheduler.now();
    for (const [item, at] of dueAt) {
      if (at > now) break;
      dueAt.delete(item);
      onDue(item);
    }
    const [next] = dueAt.values();
    if (next !== undefined && timer === undefined) arm(next - scheduler.now());
  };
  return {
    get size() {
      return dueAt.size;
    },
    touch(item) {
      dueAt.delete(item);
      dueAt.set(item, scheduler.now() + delayMs);
      if (timer === undefined) arm(delayMs);
    },
    delete: (item) => void dueAt.delete(item),
    first() {
      const [item] = dueAt.keys();
      return item;
    },
    close() {
      dueAt.clear();
      timer?.cancel();
      timer = undefined;
    },
  };
}
