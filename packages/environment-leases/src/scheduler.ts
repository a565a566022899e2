/** Monotonic time and timers; tests pass their own. */
export interface Scheduler {
  /** Milliseconds that never go back. */
  now(): number;
  /** Calls once after so many milliseconds unless cancelled. Does not keep the process alive. */
  after(delayMs: number, callback: () => void): { cancel(): void };
}
