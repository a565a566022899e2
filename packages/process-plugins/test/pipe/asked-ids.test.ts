import fc from "fast-check";
import { expect, it } from "vitest";
import { createAskedIds } from "../../src/pipe/asked-ids.js";

it("ids count up from 1", () => {
  const ids = createAskedIds();
  expect([ids.take(), ids.take(), ids.take()]).toEqual([1, 2, 3]);
});

it.each([0, -1, 4, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("%s was never used", (id) => {
  const ids = createAskedIds();
  for (let n = 0; n < 3; n += 1) ids.giveUp(ids.take());
  expect(ids.judge(id)).toBe("foreign");
});

it("an answer of a call that was given up is late once, however long ago, and foreign when it comes again", () => {
  const ids = createAskedIds();
  const id = ids.take();
  ids.giveUp(id);
  for (let n = 0; n < 10_000; n += 1) ids.take();
  expect(ids.judge(id)).toBe("late");
  expect(ids.judge(id)).toBe("foreign");
});

it("whatever is given up, answered and judged: no answer to an id not yet used is late, and each late one was given up", () => {
  const step = fc.record({ giveUp: fc.boolean(), judged: fc.integer({ min: -2, max: 60 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const ids = createAskedIds();
      const open = new Set<number>();
      let last = 0;
      for (const { giveUp, judged } of steps) {
        last = ids.take();
        if (giveUp) {
          ids.giveUp(last);
          open.add(last);
        }
        expect(ids.judge(judged)).toBe(open.delete(judged) ? "late" : "foreign");
      }
      expect(ids.judge(last + 1)).toBe("foreign");
    }),
  );
});

it("beyond the limit the oldest are forgotten, and what comes for them is late: no plugin is ended for the host's bad memory", () => {
  const ids = createAskedIds(10);
  for (let n = 0; n < 25; n += 1) ids.giveUp(ids.take());
  expect(ids.judge(1)).toBe("late");
  expect(ids.judge(15)).toBe("late");
  expect(ids.judge(16)).toBe("late");
  expect(ids.judge(16)).toBe("foreign");
});
