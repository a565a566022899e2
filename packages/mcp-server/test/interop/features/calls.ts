import { expect, vi } from "vitest";
import type { CallSettings, Subject } from "../subject.js";
import { type Feature, textOf } from "./feature.js";

interface Waiting {
  readonly steps: unknown[];
  readonly result: Promise<unknown>;
  /** Resolves when so many steps were told. */
  told(count: number): Promise<void>;
}

let keys = 0;
const keyFor = (subject: Subject): string => `${subject.era}-${process.pid}-${++keys}`;

function waitingCall(subject: Subject, key: string, settings: CallSettings): Waiting {
  const steps: unknown[] = [];
  let wake: () => void = () => undefined;
  const onprogress: CallSettings["onprogress"] = (step) => {
    steps.push(step);
    wake();
  };
  const result = subject.call("waits", { key }, { ...settings, onprogress });
  result.catch(() => undefined); // the tests look at it later
  return {
    steps,
    result,
    async told(count) {
      while (steps.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** The client's clock stands still, and goes on when the test says so. */
async function withTimers(run: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    await run();
  } finally {
    vi.useRealTimers();
  }
}

export const calls: readonly Feature[] = [
  {
    name: "progress",
    async run(subject) {
      const key = keyFor(subject);
      const { steps, result, told } = waitingCall(subject, key, {});
      await told(1);
      await subject.call("nudges", { key });
      await told(2);
      await subject.call("releases", { key, text: "let go" });
      expect(textOf(await result)).toBe("let go");
      expect(steps).toEqual([
        { progress: 1, total: 3, message: "step 1" },
        { progress: 2, total: 3, message: "step 2" },
      ]);
    },
  },
  {
    name: "cancellation",
    async run(subject) {
      const key = keyFor(subject);
      const controller = new AbortController();
      const { result } = waitingCall(subject, key, { signal: controller.signal });
      await subject.call("begun", { key });
      controller.abort(new Error("enough"));
      await expect(result).rejects.toThrow();
      expect(textOf(await subject.call("aborted", { key }))).toBe("aborted");
    },
  },
  {
    name: "timeout of a request",
    run: (subject) =>
      withTimers(async () => {
        const key = keyFor(subject);
        const { result, told } = waitingCall(subject, key, { timeout: 1_000 });
        await told(1);
        const refused = expect(result).rejects.toThrow(/timed out/i);
        vi.advanceTimersByTime(1_001);
        await refused;
        expect(textOf(await subject.call("aborted", { key }))).toBe("aborted");
      }),
  },
  {
    name: "timeout reset by progress",
    run: (subject) =>
      withTimers(async () => {
        const key = keyFor(subject);
        const { result, told } = waitingCall(subject, key, { timeout: 1_000, resetTimeoutOnProgress: true });
        for (const step of [1, 2, 3]) {
          await told(step);
          vi.advanceTimersByTime(900);
          await subject.call("nudges", { key });
        }
        await told(4);
        await subject.call("releases", { key, text: "in time" });
        expect(textOf(await result)).toBe("in time");
      }),
  },
  {
    name: "several calls at once",
    async run(subject) {
      const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
      const results = await Promise.all(texts.map((text) => subject.call("echo", { text })));
      expect(results.map(textOf)).toEqual(texts);
    },
  },
  {
    name: "a stream that its handler let go of",
    async run(subject) {
      expect(textOf(await subject.call("polls"))).toBe("polled");
    },
  },
];
