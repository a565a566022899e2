import { PatternRefused } from "./refused.js";

/** The states that the patterns of one schema may still take. */
export interface StateBudget {
  /** Takes some, by default one. @throws {PatternRefused} when not so many are left */
  take(count?: number): void;
}

export function createStateBudget(maxPatternStates: number): StateBudget {
  let left = maxPatternStates;
  const take = (count = 1): void => {
    left -= count;
    if (left >= 0) return;
    throw new PatternRefused(
      `the patterns need more than ${maxPatternStates} states (maxPatternStates)`,
      "SCHEMA_TOO_LARGE",
    );
  };
  return { take };
}
