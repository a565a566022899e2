import { describe, expect, it } from "vitest";
import { createClosers } from "../src/index.js";

describe("what is to be closed", () => {
  it("is closed in reverse order, also when one fails, and once", async () => {
    const told: string[] = [];
    const closers = createClosers((name, fault) => told.push(`${name}: ${String(fault)}`));
    for (const name of ["a", "b", "c"]) {
      closers.add(name, async () => {
        told.push(name);
        if (name === "b") throw new Error("stuck");
      });
    }
    expect(await Promise.all([closers.close(1_000), closers.close(1_000)])).toEqual([[], []]);
    expect(told).toEqual(["c", "b", "b: Error: stuck", "a"]);
  });

  it("is named when it takes too long", async () => {
    const closers = createClosers(() => {});
    closers.add("store", async () => {});
    closers.add("leases", () => new Promise(() => {}));
    expect(await closers.close(5)).toEqual(["store", "leases"]);
  });
});
