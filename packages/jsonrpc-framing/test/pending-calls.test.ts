import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { createPendingCalls, FramingError, type PendingCalls, type PendingCallsOptions } from "../src/index.js";
import { createFakeScheduler, type FakeScheduler } from "./fake-scheduler.js";
import { heldBytes } from "./garbage.js";

function create(options: PendingCallsOptions = {}): { calls: PendingCalls<string>; time: FakeScheduler } {
  const time = createFakeScheduler();
  return { calls: createPendingCalls<string>({ scheduler: time, ...options }), time };
}

/** How a promise stands after all that is ready has run. */
async function state(promise: Promise<string>): Promise<unknown> {
  const pending = Symbol("pending");
  return Promise.race([promise, Promise.resolve(pending)]).then(
    (value) => (value === pending ? "pending" : value),
    (cause: unknown) => (cause instanceof FramingError ? cause.code : cause),
  );
}

describe("pending calls", () => {
  it("settle the call with the answer's id and its type", async () => {
    const { calls } = create();
    const number = calls.register(1);
    const text = calls.register("1");
    expect(calls.settle("1", "for the string")).toBe("settled");
    expect(calls.settle(1, "for the number")).toBe("settled");
    expect([await number, await text]).toEqual(["for the number", "for the string"]);
  });

  it("tell an id never issued from one that is finished", async () => {
    const { calls } = create();
    const call = calls.register(1);
    expect(calls.settle(2, "")).toBe("unknown");
    expect(calls.settle("1", "")).toBe("unknown");
    expect(calls.progress(2)).toBe("unknown");
    expect(calls.reject(2, new Error())).toBe("unknown");
    calls.settle(1, "a");
    expect([calls.settle(1, "b"), calls.progress(1), calls.reject(1, new Error())]).toEqual(["late", "late", "late"]);
    expect(await call).toBe("a");
  });

  it("reject one call with a cause of the caller's, unwrapped", async () => {
    const { calls } = create();
    const cause = { code: "REMOTE" };
    const call = calls.register(1);
    expect(calls.reject(1, cause)).toBe("settled");
    expect(await state(call)).toBe(cause);
  });

  it("time out after silence, tell the caller first, and are quiet about the late answer", async () => {
    const { calls, time } = create({ timeoutMs: 1000 });
    const told: unknown[] = [];
    const call = calls.register(7, { onTimeout: (id) => told.push(id) });
    time.advance(999);
    expect([await state(call), told]).toEqual(["pending", []]);
    time.advance(1);
    expect([await state(call), told]).toEqual(["CALL_TIMEOUT", [7]]);
    expect([calls.settle(7, "late"), calls.progress(7), calls.size]).toEqual(["late", "late", 0]);
  });

  it("time out each at its own moment, whatever the order", async () => {
    const { calls, time } = create({ timeoutMs: 500 });
    const order: unknown[] = [];
    const onTimeout = (id: unknown): unknown => order.push([time.now(), id]);
    const all = [300, 100, 200, undefined].map((timeoutMs, id) => calls.register(id, { timeoutMs, onTimeout }));
    time.advance(1000);
    expect(order).toEqual([
      [100, 1],
      [200, 2],
      [300, 0],
      [500, 3],
    ]);
    expect(await Promise.all(all.map(state))).toEqual(Array(4).fill("CALL_TIMEOUT"));
  });

  it("start their timeout again at each progress, up to a ceiling that progress cannot move", async () => {
    const { calls, time } = create();
    const call = calls.register(1, { timeoutMs: 100, maxTotalMs: 1000 });
    for (let step = 0; step < 12; step++) {
      time.advance(83);
      expect(calls.progress(1)).toBe("extended");
    }
    expect([time.now(), await state(call)]).toEqual([996, "pending"]);
    time.advance(4);
    expect(await state(call)).toBe("CALL_TIMEOUT");
  });

  it("time out after the last progress, not after the first timeout", async () => {
    const { calls, time } = create({ timeoutMs: 100 });
    const call = calls.register(1);
    time.advance(60);
    calls.progress(1);
    time.advance(99);
    expect(await state(call)).toBe("pending");
    time.advance(1);
    expect(await state(call)).toBe("CALL_TIMEOUT");
  });

  it("do not let a default ceiling cut a call that names a longer timeout", async () => {
    const { calls, time } = create({ maxTotalMs: 1000 });
    const call = calls.register(1, { timeoutMs: 5000 });
    time.advance(4999);
    expect(await state(call)).toBe("pending");
    time.advance(1);
    expect(await state(call)).toBe("CALL_TIMEOUT");
  });

  it("end at a ceiling below the timeout", async () => {
    const { calls, time } = create();
    const call = calls.register(1, { timeoutMs: 5000, maxTotalMs: 10 });
    time.advance(10);
    expect(await state(call)).toBe("CALL_TIMEOUT");
  });

  it("reject with the signal's own reason, stop listening, and are quiet about the late answer", async () => {
    const { calls } = create();
    const aborter = new AbortController();
    const aborted = calls.register(1, { signal: aborter.signal });
    const answered = calls.register(2, { signal: aborter.signal });
    calls.settle(2, "a");
    const reason = new Error("no longer wanted");
    aborter.abort(reason);
    expect([await state(aborted), await state(answered)]).toEqual([reason, "a"]);
    expect(getEventListeners(aborter.signal, "abort")).toHaveLength(0);
    expect(calls.settle(1, "late")).toBe("late");
  });

  it("do not begin with a signal that is aborted already", async () => {
    const { calls } = create();
    const reason = new Error("too late");
    expect(await state(calls.register(1, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect([calls.size, calls.settle(1, "")]).toEqual([0, "unknown"]);
  });

  it("refuse an id that is in flight, and take it again when it is finished", async () => {
    const { calls } = create();
    const first = calls.register(1);
    expect(await state(calls.register(1))).toBe("CALL_ID_IN_USE");
    expect(await state(first)).toBe("pending");
    calls.settle(1, "a");
    const second = calls.register(1);
    calls.settle(1, "b");
    expect([await first, await second]).toEqual(["a", "b"]);
  });

  it("bound how many are in flight", async () => {
    const { calls } = create({ maxCalls: 2 });
    void calls.register(1);
    void calls.register(2);
    expect(await state(calls.register(3))).toBe("TOO_MANY_CALLS");
    calls.settle(1, "");
    expect(await state(calls.register(3))).toBe("pending");
  });

  it("reject all with one cause, stay usable, and are quiet about what comes late", async () => {
    const { calls } = create();
    const all = [calls.register(1), calls.register("2")];
    const cause = new Error("desynchronized");
    calls.rejectAll(cause);
    expect(await Promise.all(all.map(state))).toEqual([cause, cause]);
    expect([calls.settle(1, ""), calls.settle("2", ""), calls.size]).toEqual(["late", "late", 0]);
    expect(await state(calls.register(3))).toBe("pending");
  });

  it("reject all on close, with the real cause, and later calls with CALLS_CLOSED", async () => {
    const { calls, time } = create();
    const call = calls.register(1);
    const cause = new Error("the child died");
    calls.close(cause);
    calls.close(new Error("another"));
    expect(await state(call)).toBe(cause);
    await expect(calls.register(2)).rejects.toMatchObject({ code: "CALLS_CLOSED", cause });
    expect(time.timers.set).toBe(0);
  });

  it("are disposable", async () => {
    const { calls } = create();
    const call = calls.register(1);
    await calls[Symbol.asyncDispose]();
    expect(await state(call)).toBe("CALLS_CLOSED");
  });

  it("let no onTimeout that throws keep another call from timing out, and do not lose its error", async () => {
    const { calls, time } = create({ timeoutMs: 10 });
    const bug = new Error("bug of the caller");
    const onTimeout = (): never => {
      throw bug;
    };
    const first = calls.register(1, { onTimeout });
    const second = calls.register(2);
    time.advance(10);
    await expect(first).rejects.toMatchObject({ code: "CALL_TIMEOUT", cause: bug });
    expect(await state(second)).toBe("CALL_TIMEOUT");
  });

  it("may be registered, settled and closed from inside onTimeout", async () => {
    const { calls, time } = create({ timeoutMs: 10 });
    const other = calls.register(2, { timeoutMs: 10 });
    const retried: Promise<string>[] = [];
    const onTimeout = (): void => {
      calls.settle(2, "in time");
      retried.push(calls.register(3));
    };
    const first = calls.register(1, { timeoutMs: 5, onTimeout });
    time.advance(10);
    expect([await state(first), await state(other)]).toEqual(["CALL_TIMEOUT", "in time"]);
    time.advance(10);
    expect(await Promise.all(retried.map(state))).toEqual(["CALL_TIMEOUT"]);
  });

  it("set one timer for many calls, and keep the process running only while one is in flight", () => {
    const { calls, time } = create({ timeoutMs: 100 });
    for (let id = 0; id < 1000; id++) {
      void calls.register(id);
      expect(time.timers).toEqual({ set: 1, held: 1 });
      calls.settle(id, "");
      expect(time.timers).toEqual({ set: 1, held: 0 });
    }
    expect(time.armed).toBe(1);
    time.advance(100);
    expect(time.timers).toEqual({ set: 0, held: 0 });
  });

  it("set the timer anew for an earlier deadline", async () => {
    const { calls, time } = create();
    void calls.register(1, { timeoutMs: 1000 }).catch(() => undefined);
    const soon = calls.register(2, { timeoutMs: 10 });
    time.advance(10);
    expect([await state(soon), calls.size, time.timers.set]).toEqual(["CALL_TIMEOUT", 1, 1]);
  });

  it("forget the oldest finished ids at their bounds, answered and given up apart", () => {
    const { calls, time } = create({ maxAnswered: 3, maxGivenUp: 2, timeoutMs: 10 });
    for (const id of ["x", "y", "z"]) calls.register(id).catch(() => undefined);
    time.advance(10);
    for (let id = 0; id < 5; id++) {
      void calls.register(id);
      calls.settle(id, "");
    }
    const deliveries = [0, 1, 2, 3, 4, "x", "y", "z"].map((id) => calls.settle(id, ""));
    expect(deliveries).toEqual(["unknown", "unknown", "late", "late", "late", "unknown", "late", "late"]);
  });

  it("remember nothing when told so", () => {
    const { calls } = create({ maxAnswered: 0 });
    void calls.register(1);
    calls.settle(1, "");
    expect(calls.settle(1, "")).toBe("unknown");
  });

  it("hold no memory for 200,000 finished calls", () => {
    const { calls } = create({ maxAnswered: 100 });
    const run = (from: number): void => {
      for (let id = from; id < from + 100_000; id++) {
        void calls.register(`a rather long id ${id}`);
        calls.settle(`a rather long id ${id}`, "x".repeat(100));
      }
    };
    run(0);
    const before = heldBytes();
    run(100_000);
    expect(heldBytes() - before).toBeLessThan(500_000);
  });

  it("run on the system's clock when none is given", async () => {
    const calls = createPendingCalls<string>();
    await expect(calls.register(1, { timeoutMs: 1 })).rejects.toMatchObject({ code: "CALL_TIMEOUT" });
  });

  it.each([
    [{ timeoutMs: 0 }, RangeError],
    [{ maxTotalMs: 1.5 }, RangeError],
    [{ maxCalls: 0 }, RangeError],
    [{ maxAnswered: -1 }, RangeError],
    [{ maxGivenUp: Number.NaN }, RangeError],
    [{ timeout: 5 }, TypeError],
  ])("refuse the options %j", (options, kind) => {
    const make: (options: object) => unknown = createPendingCalls;
    expect(() => make(options)).toThrow(kind);
  });

  it("refuse a call's timeout that is out of range, at once", () => {
    const { calls } = create();
    expect(() => calls.register(1, { timeoutMs: 0 })).toThrow(RangeError);
    expect(() => calls.register(1, { maxTotalMs: Number.POSITIVE_INFINITY })).toThrow(RangeError);
    expect(calls.size).toBe(0);
  });
});
