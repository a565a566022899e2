import fc from "fast-check";
import { expect, it } from "vitest";
import type { Outcome } from "../src/index.js";
import { settled } from "./fakes/deferred.js";
import { outcomeOf } from "./fakes/parts.js";
import { openFakeSet } from "./fakes/set.js";

const textOrCode = (call: Promise<Outcome>): Promise<string> =>
  call.then(
    ({ stdout }) => stdout.text,
    ({ code }) => code,
  );

it("more calls than places wait, more than the queue holds are refused", async () => {
  await using set = openFakeSet({ limits: { maxSessionless: 1, maxSessionlessQueued: 1 } });
  const first = set.sessions.executeOnce("ada", { code: "wait" });
  const second = set.sessions.executeOnce("ada", { code: "2" });
  await settled();
  expect(set.sessions.counts()).toMatchObject({ sessionless: 1, sessionlessQueued: 1 });
  await expect(set.sessions.executeOnce("ada", { code: "3" })).rejects.toMatchObject({ code: "SESSIONS_BUSY" });
  set.parts.runs[0]?.outcome.resolve(outcomeOf("ok"));
  expect((await first).status).toBe("ok");
  expect((await second).status).toBe("ok");
});

it("owners take turns, however many calls one of them has waiting", async () => {
  await using set = openFakeSet({ limits: { maxSessionless: 1 } });
  const order: string[] = [];
  const call = async (owner: string, code: string): Promise<void> => {
    await set.sessions.executeOnce(owner, { code });
    order.push(`${owner}${code}`);
  };
  await Promise.all([call("a", "1"), call("a", "2"), call("a", "3"), call("a", "4"), call("b", "1"), call("b", "2")]);
  expect(order).toEqual(["a1", "a2", "b1", "a3", "b2", "a4"]);
});

it("a full queue has room for who has less of it: whoever has most gives up the last that came", async () => {
  await using set = openFakeSet({ limits: { maxSessionless: 1, maxSessionlessQueued: 4 } });
  const call = (owner: string, code: string) => textOrCode(set.sessions.executeOnce(owner, { code }));
  const adas = ["wait", "1", "2"].map((code) => call("ada", code));
  await settled();
  const bobs = ["3", "4"].map((code) => call("bob", code));
  await settled();
  const cys = ["5", "6"].map((code) => call("cy", code));
  await settled();
  expect(set.sessions.counts()).toMatchObject({ sessionless: 1, sessionlessQueued: 4 });
  set.parts.runs[0]?.outcome.resolve(outcomeOf("ok", "0"));
  expect(await Promise.all(adas)).toEqual(["0", "1", "SESSIONS_BUSY"]);
  expect(await Promise.all(bobs)).toEqual(["3", "4"]);
  expect(await Promise.all(cys)).toEqual(["5", "SESSIONS_BUSY"]);
});

it("one owner has half of the queue at most, so that of two owners neither's calls are refused for the other's", async () => {
  const arrivals = fc.array(fc.constantFrom("ada", "bob"), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(arrivals, fc.integer({ min: 2, max: 9 }), async (arriving, maxSessionlessQueued) => {
      await using set = openFakeSet({ limits: { maxSessionless: 1, maxSessionlessQueued, warmWorkers: 0 } });
      const running = set.sessions.executeOnce("cy", { code: "wait" });
      await settled();
      const calls = arriving.map((owner) => textOrCode(set.sessions.executeOnce(owner, { code: "1" })));
      set.parts.runs[0]?.outcome.resolve(outcomeOf("ok"));
      await running;
      const isOver = (owner: string, at: number): boolean =>
        arriving.slice(0, at).filter((each) => each === owner).length >= Math.floor(maxSessionlessQueued / 2);
      const wanted = arriving.map((owner, at) => (isOver(owner, at) ? "SESSIONS_BUSY" : "1"));
      expect(await Promise.all(calls)).toEqual(wanted);
    }),
    { numRuns: 60 },
  );
});

it("once two owners have come, the last place is for one that has none", async () => {
  await using set = openFakeSet({ limits: { maxSessionless: 2 } });
  await set.sessions.executeOnce("bob", { code: "1" });
  await settled();
  const [first, second] = ["wait", "2"].map((code) => set.sessions.executeOnce("ada", { code }));
  await settled();
  expect(set.sessions.counts()).toMatchObject({ sessionless: 1, sessionlessQueued: 1 });
  expect((await set.sessions.executeOnce("bob", { code: "3" })).stdout.text).toBe("3");
  set.parts.runs[1]?.outcome.resolve(outcomeOf("ok"));
  expect((await first)?.status).toBe("ok");
  expect((await second)?.stdout.text).toBe("2");
});

it("one that waits and is given up leaves the queue", async () => {
  await using set = openFakeSet({ limits: { maxSessionless: 1 } });
  const first = set.sessions.executeOnce("ada", { code: "wait" });
  const leaving = new AbortController();
  const second = set.sessions.executeOnce("ada", { code: "2", signal: leaving.signal });
  await settled();
  const reason = new Error("never mind");
  leaving.abort(reason);
  await expect(second).rejects.toBe(reason);
  expect(set.sessions.counts()).toMatchObject({ sessionlessQueued: 0 });
  set.parts.runs[0]?.outcome.resolve(outcomeOf("ok"));
  await first;
  await settled();
  expect(set.parts.runs).toHaveLength(1);
});
