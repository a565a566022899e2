import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemScheduler } from "../src/index.js";

const day = 86_400_000;

describe("the system's scheduler", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  // `setTimeout` calls at once after more than 2^31 - 1 milliseconds, and leases may live for 30 days.
  it.each([{ days: 0.5 }, { days: 24 }, { days: 30 }, { days: 60 }])("calls once after $days days", ({ days }) => {
    const callback = vi.fn();
    systemScheduler.after(days * day, callback);
    vi.advanceTimersByTime(days * day - 1);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(70 * day);
    expect(callback).toHaveBeenCalledTimes(1);
  });

  it.each([{ passed: 1 }, { passed: 26 }])("never calls what was cancelled after $passed of 30 days", ({ passed }) => {
    const callback = vi.fn();
    const timer = systemScheduler.after(30 * day, callback);
    vi.advanceTimersByTime(passed * day);
    timer.cancel();
    vi.advanceTimersByTime(70 * day);
    expect(callback).not.toHaveBeenCalled();
  });
});
