import { type Scheduler, type SchedulerTimer, systemScheduler } from "@berth/jsonrpc-framing";

/** Real time, but that waits of one length end when the test says so, so that no slow machine ends one by itself. */
export function holdTimers(ms: number): { readonly scheduler: Scheduler; readonly fire: () => number } {
  const held = new Set<() => void>();
  const hold = (callback: () => void): SchedulerTimer => {
    held.add(callback);
    return { cancel: () => void held.delete(callback), hold: () => {} };
  };
  return {
    scheduler: {
      now: systemScheduler.now,
      after: (delayMs, callback) => (delayMs === ms ? hold(callback) : systemScheduler.after(delayMs, callback)),
    },
    fire: () => {
      const due = [...held];
      held.clear();
      for (const callback of due) callback();
      return due.length;
    },
  };
}
