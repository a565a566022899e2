import type { EnvironmentEnd } from "../environment.js";
import type { HostExit } from "./guest-host.js";

/** Exit status of an agent whose deadline has passed. */
const deadlineStatus = 124;
/** Both clocks are monotonic, but read at different moments. */
const toleranceMs = 50;

/** When the agent inside ends by itself, as the host knows it. */
export interface DeadlineClock {
  set(remainingMs: number): void;
  /** Whether an exit was the deadline's: anything inside can make a process end with 124, so our clock has to agree. */
  explain(exit: HostExit): EnvironmentEnd;
}

export function startDeadlineClock(remainingMs: number): DeadlineClock {
  let deadlineAt = performance.now() + remainingMs;
  return {
    set(ms) {
      deadlineAt = performance.now() + ms;
    },
    explain({ code, ...end }) {
      const passed = performance.now() >= deadlineAt - toleranceMs;
      if (end.reason !== "exit" || code !== deadlineStatus || !passed) return end;
      return { ...end, reason: "deadline", detail: "the environment's own deadline has passed" };
    },
  };
}
