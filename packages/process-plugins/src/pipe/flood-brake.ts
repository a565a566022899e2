import type { Scheduler, SchedulerTimer } from "@berth/jsonrpc-framing";

/** Slows a plugin down that sends more notifications than anybody could want; its answers wait with them, other plugins notice nothing. */
export interface FloodBrake {
  count(): void;
  /** Reads on, whatever comes: the process has ended. */
  release(): void;
}

/** What is slowed down. */
export interface FloodBrakeOptions {
  readonly pause: () => void;
  readonly resume: () => void;
  readonly scheduler: Scheduler;
}

/** Notifications that are read in a second; then what was read already, and no more until the second is over. */
export const maxNotificationsPerSecond = 10_000;
const windowMs = 1_000;

export function createFloodBrake({ pause, resume, scheduler }: FloodBrakeOptions): FloodBrake {
  let windowEnd = Number.NEGATIVE_INFINITY;
  let counted = 0;
  let timer: SchedulerTimer | undefined;
  let isReleased = false;

  const goOn = (): void => {
    timer?.cancel();
    timer = undefined;
    counted = 0;
    windowEnd = scheduler.now() + windowMs;
    resume();
  };
  return {
    count: () => {
      const now = scheduler.now();
      if (now >= windowEnd) {
        windowEnd = now + windowMs;
        counted = 0;
      }
      counted += 1;
      if (counted < maxNotificationsPerSecond || timer !== undefined || isReleased) return;
      pause();
      timer = scheduler.after(Math.max(1, windowEnd - now), goOn);
    },
    release: () => {
      isReleased = true;
      if (timer !== undefined) goOn();
    },
  };
}
