import type { Scheduler } from "@berth/jsonrpc-framing";

/** Tells steps, and says again what is under way. */
export interface RepeatedSteps {
  tell(step: string): void;
  /** Nothing is told any more. */
  end(): void;
}

/** An installer says nothing for minutes, and nobody would know whether it works. */
const everyMs = 10_000;

/** Tells each step at once, and every 10 s again with how long it has taken, until the next or the end. */
export function repeatSteps(onStep: (step: string) => void, scheduler: Scheduler): RepeatedSteps {
  let cancel = (): void => {};
  let isOver = false;
  const again = (step: string, sinceMs: number): void => {
    if (isOver) return; // whoever was told a step may have ended it
    const timer = scheduler.after(everyMs, () => {
      onStep(`${step} (${Math.round((scheduler.now() - sinceMs) / 1_000)} s)`);
      again(step, sinceMs);
    });
    cancel = () => timer.cancel();
  };
  return {
    tell: (step) => {
      cancel();
      onStep(step);
      again(step, scheduler.now());
    },
    end: () => {
      isOver = true;
      cancel();
    },
  };
}
