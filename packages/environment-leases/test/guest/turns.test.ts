import { expect, it } from "vitest";
import { createTurns } from "../../src/workers/turns.js";

// An inner file: from outside one sees only that many starts at once do not fail.

it("lets so many run at once, in the order in which they came, also after one failed", async () => {
  const turns = createTurns(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const work = (at: number) => () =>
    new Promise<number>((resolve, reject) => {
      begun.push(at);
      ends[at] = () => (at === 1 ? reject(new Error("failed")) : resolve(at));
    });
  const all = [0, 1, 2, 3].map((at) => turns.take(work(at)));
  const settled = Promise.allSettled(all);
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1]);
  ends[1]?.();
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1, 2]);
  ends[0]?.();
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[2]?.();
  ends[3]?.();
  expect((await settled).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
});

it("forgets who stops waiting", async () => {
  const turns = createTurns(1);
  let end = (): void => {};
  const first = turns.take(() => new Promise<void>((resolve) => (end = resolve)));
  const abort = new AbortController();
  const second = turns.take(expect.fail, abort.signal);
  const third = turns.take(async () => "third");
  abort.abort("enough");
  await expect(second).rejects.toBe("enough");
  end();
  await first;
  expect(await third).toBe("third");
  await expect(turns.take(expect.fail, AbortSignal.abort("no"))).rejects.toBe("no");
});
