/** Counts the ends of one plugin's own within a window of time that moves. Time is passed in. */
export interface CrashBudget {
  /** Takes down one. Whether it was one too many. */
  spend(nowMs: number): boolean;
  /** Those within the window. */
  count(nowMs: number): number;
  forget(): void;
}

/** @param maxCrashes The number that is one too many. */
export function createCrashBudget(maxCrashes: number, windowMs: number): CrashBudget {
  let times: readonly number[] = [];
  const recent = (nowMs: number): readonly number[] => times.filter((time) => nowMs - time < windowMs);
  return {
    spend: (nowMs) => {
      // More than these can never be needed, so that a plugin cannot fill the memory.
      times = [...recent(nowMs), nowMs].slice(-maxCrashes);
      return times.length >= maxCrashes;
    },
    count: (nowMs) => recent(nowMs).length,
    forget: () => {
      times = [];
    },
  };
}
