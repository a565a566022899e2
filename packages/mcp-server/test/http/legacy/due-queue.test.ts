import { describe, expect, it } from "vitest";
import { createFakeScheduler } from "../../../../jsonrpc-framing/test/fake-scheduler.js";
import { createDueQueue, type DueQueue } from "../../../src/http/legacy/due-queue.js";

describe("a queue of what is due", () => {
  it("tells each once, in order, with one timer that holds no process", () => {
    const time = createFakeScheduler();
    const told: [number, string][] = [];
    const queue = createDueQueue<string>(time, 100, (item) => void told.push([time.now(), item]));
    queue.touch("a");
    time.advance(10);
    queue.touch("b");
    queue.touch("c");
    expect([queue.size, queue.first(), time.timers]).toEqual([3, "a", { set: 1, held: 0 }]);
    time.advance(50);
    queue.touch("a");
    queue.delete("c");
    queue.delete("never in");
    time.advance(1_000);
    expect(told).toEqual([
      [110, "b"],
      [160, "a"],
    ]);
    expect([queue.size, queue.first(), time.timers.set]).toEqual([0, undefined, 0]);
  });

  it("lets what is due put itself in again, or take others out", () => {
    const time = createFakeScheduler();
    let count = 0;
    const queue: DueQueue<string> = createDueQueue<string>(time, 100, (item) => {
      count += 1;
      queue.touch(item);
      queue.delete("other");
    });
    queue.touch("again");
    queue.touch("other");
    time.advance(1_000);
    expect([count, queue.size, time.timers.set]).toEqual([10, 1, 1]);
    queue.close();
    time.advance(1_000);
    expect([count, queue.size, time.timers.set]).toEqual([10, 0, 0]);
  });
});
