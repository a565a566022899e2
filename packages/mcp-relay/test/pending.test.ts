import { describe, expect, it } from "vitest";
import { type Answer, createPendingRequests, type PendingRequest } from "../src/upstream/pending.js";
import { createManualScheduler } from "./support/manual-scheduler.js";

const request = (silenceMs: number, totalMs: number): PendingRequest & { answers: Answer[] } => {
  const answers: Answer[] = [];
  return { answers, waits: { silenceMs, totalMs }, settle: (answer) => answers.push(answer) };
};

describe("requests of the relay that wait for an answer", () => {
  it("are told from those answered before and those never issued, whatever their age", () => {
    const pending = createPendingRequests(createManualScheduler(), () => undefined);
    const first = request(10, 10);
    expect(pending.add(first)).toBe(1);
    expect(pending.take(1)).toBe(first);
    for (let count = 0; count < 100_000; count += 1) pending.take(pending.add(request(10, 10)));
    expect(pending.take(1)).toBe("late");
    expect(pending.take(100_001)).toBe("late");
    for (const id of [0, -1, 100_002, 1.5, Number.NaN, "1", undefined, null]) expect(pending.take(id)).toBe("unknown");
  });

  it("are due after their silence, and progress starts it again up to the ceiling", () => {
    const scheduler = createManualScheduler();
    const due: number[] = [];
    const pending = createPendingRequests(scheduler, (id) => due.push(id));
    pending.add(request(100, 250));
    scheduler.advance(90);
    pending.touch(1);
    scheduler.advance(90);
    pending.touch(1);
    scheduler.advance(69);
    expect(due).toEqual([]);
    scheduler.advance(1);
    expect(due).toEqual([1]);
    expect(pending.take(1)).toBe("late");
  });

  it("share one timer, which an answer does not move", () => {
    const scheduler = createManualScheduler();
    let timers = 0;
    const counting = {
      ...scheduler,
      after(ms: number, callback: () => void) {
        timers += 1;
        return scheduler.after(ms, callback);
      },
    };
    const pending = createPendingRequests(counting, () => undefined);
    for (let count = 0; count < 1_000; count += 1) pending.take(pending.add(request(1_000, 1_000)));
    expect(timers).toBe(1);
  });

  it("are due in time although an earlier one was answered, and a shorter one moves the timer forward", () => {
    const scheduler = createManualScheduler();
    const due: number[] = [];
    const pending = createPendingRequests(scheduler, (id) => due.push(id));
    pending.add(request(100, 100));
    scheduler.advance(50);
    pending.add(request(100, 100));
    pending.take(1);
    pending.add(request(20, 20));
    scheduler.advance(20);
    expect(due).toEqual([3]);
    scheduler.advance(80);
    expect(due).toEqual([3, 2]);
  });

  it("are taken out together, oldest first", () => {
    const pending = createPendingRequests(createManualScheduler(), () => undefined);
    const requests = [request(10, 10), request(10, 10)];
    for (const one of requests) pending.add(one);
    expect(pending.takeAll()).toEqual(requests);
    expect(pending.size).toBe(0);
    expect(pending.take(2)).toBe("late");
  });
});
