import type { Lease, Scheduler } from "@berth/environment-leases";

const longestMs = 10_000;

/** Code that runs is use, however long it says nothing. Returns what ends the keeping. */
export function keepLeaseUsed(lease: Lease, use: () => void, scheduler: Scheduler): () => void {
  const everyMs = Math.min(longestMs, (lease.record.idleMs ?? longestMs) / 3);
  let timer = { cancel: (): void => undefined };
  const again = (): void => {
    use();
    timer = scheduler.after(everyMs, again);
  };
  again();
  return () => {
    timer.cancel();
    use();
  };
}
