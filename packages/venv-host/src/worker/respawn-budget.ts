import type { Scheduler } from "@berth/jsonrpc-framing";

const DELAYS_MS: readonly number[] = [100, 200, 400];
const WINDOW_MS = 60_000;

/** How often a worker is started anew. */
export interface RespawnBudget {
  /** How long to wait before the next start; undefined when none is left. */
  take(): number | undefined;
  /** A call was completed: the worker works. */
  refill(): void;
}

/** Three starts, all there again 60 s after the first of them or with a completed call. */
export function createRespawnBudget(scheduler: Pick<Scheduler, "now">): RespawnBudget {
  let taken = 0;
  let firstAt = 0;
  return {
    take: () => {
      if (taken > 0 && scheduler.now() - firstAt >= WINDOW_MS) taken = 0;
      const delayMs = DELAYS_MS[taken];
      if (delayMs === undefined) return undefined;
      if (taken === 0) firstAt = scheduler.now();
      taken += 1;
      return delayMs;
    },
    refill: () => {
      taken = 0;
    },
  };
}
