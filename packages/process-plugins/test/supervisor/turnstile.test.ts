import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTurnstile } from "../../src/supervisor/turnstile.js";

const never = new AbortController().signal;
const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a turnstile", () => {
  it("lets so many in at once, and the others in the order in which they came", async () => {
    const turnstile = createTurnstile(2);
    const entered: number[] = [];
    const leaves: (() => void)[] = [];
    for (let who = 0; who < 5; who += 1) {
      void turnstile.enter(never).then((leave) => {
        entered.push(who);
        leaves.push(leave);
      });
    }
    await turns();
    expect(entered).toEqual([0, 1]);
    leaves[1]?.();
    await turns();
    expect(entered).toEqual([0, 1, 2]);
    for (const leave of leaves.splice(0)) leave();
    await turns();
    expect(entered).toEqual([0, 1, 2, 3, 4].slice(0, entered.length));
    for (const leave of leaves.splice(0)) leave();
    await turns();
    expect(entered).toEqual([0, 1, 2, 3, 4]);
  });

  it("gives the place of one who gave up to the next", async () => {
    const turnstile = createTurnstile(1);
    const reason = new Error("enough");
    const leave = await turnstile.enter(never);
    const controller = new AbortController();
    const given = turnstile.enter(controller.signal);
    const next = turnstile.enter(never);
    controller.abort(reason);
    await expect(given).rejects.toBe(reason);
    leave();
    (await next)();
    await expect(turnstile.enter(AbortSignal.abort(reason))).rejects.toBe(reason);
    (await turnstile.enter(never))();
  });

  it("loses no place and gives none twice, whoever leaves or gives up when", async () => {
    const steps = fc.array(fc.record({ act: fc.constantFrom("enter", "leave", "abort", "turn"), which: fc.nat(20) }), {
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), steps, async (places, acts) => {
        const turnstile = createTurnstile(places);
        const inside: (() => void)[] = [];
        const waiting: AbortController[] = [];
        const enter = (): void => {
          const controller = new AbortController();
          waiting.push(controller);
          turnstile.enter(controller.signal).then(
            (leave) => void inside.push(leave),
            () => {},
          );
        };
        for (const { act, which } of acts) {
          if (act === "enter") enter();
          if (act === "turn") await turns();
          if (act === "leave") inside.splice(which % (inside.length || 1), 1)[0]?.();
          if (act === "abort") waiting[which % (waiting.length || 1)]?.abort(new Error("enough"));
          expect(inside.length).toBeLessThanOrEqual(places);
        }
        await turns();
        for (const controller of waiting) controller.abort(new Error("enough"));
        await turns();
        for (const leave of inside.splice(0)) leave();
        for (let place = 0; place < places; place += 1) enter();
        await turns();
        expect(inside.length).toBe(places);
      }),
    );
  });
});
