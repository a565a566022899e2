// An inner file: an attempt that was begun before the machine changed is not to be timed from outside.
import { expect, it, onTestFinished } from "vitest";
import { createPreparedStock } from "../../src/prepared/prepared-stock.js";
import type { Raised } from "../../src/start/raise-sandbox.js";

it("who waits for prepared sandboxes is not told the failure of an attempt that was begun before", async () => {
  const failures: ((error: Error) => void)[] = [];
  const stock = createPreparedStock({
    count: 1,
    maxAgeMs: 1_000,
    prepare: () => ({ basis: "b", raised: new Promise<Raised>((_, reject) => failures.push(reject)) }),
  });
  onTestFinished(() => stock.close());
  stock.fill();
  const told = expect(stock.whenFull("b")).rejects.toThrow("the second");
  failures[0]?.(new Error("the first"));
  await expect.poll(() => failures.length).toBe(2);
  failures[1]?.(new Error("the second"));
  await told;
});
