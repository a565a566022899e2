import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCrashBudget } from "../../src/supervisor/crash-budget.js";

describe("a budget of crashes", () => {
  it("is spent by the crash that is one too many within the window", () => {
    const budget = createCrashBudget(3, 1_000);
    expect([0, 400, 999].map((now) => budget.spend(now))).toEqual([false, false, true]);
    expect(budget.count(999)).toBe(3);
    budget.forget();
    expect(budget.count(999)).toBe(0);
    expect(budget.spend(1_000)).toBe(false);
  });

  it("of one is spent by the first", () => {
    expect(createCrashBudget(1, 1_000).spend(5)).toBe(true);
  });

  it("counts a crash until the window has passed, and not a moment longer", () => {
    const budget = createCrashBudget(2, 1_000);
    budget.spend(0);
    expect([999, 1_000].map((now) => budget.count(now))).toEqual([1, 0]);
    expect(budget.spend(1_000)).toBe(false);
    expect(budget.spend(1_999)).toBe(true);
  });

  it("says of any run of crashes what counting all of them says", () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 3_000 }), (steps, most, windowMs) => {
        const budget = createCrashBudget(most, windowMs);
        const all: number[] = [];
        let now = 0;
        for (const step of steps) {
          now += step;
          all.push(now);
          const within = all.filter((time) => now - time < windowMs).length;
          expect(budget.spend(now)).toBe(within >= most);
          expect(budget.count(now)).toBe(Math.min(within, most));
        }
      }),
    );
  });
});
