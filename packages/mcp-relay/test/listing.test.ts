import { describe, expect, it } from "vitest";
import type { JudgedList } from "../src/upstream/judge-list.js";
import { createListing } from "../src/upstream/listing.js";

const listOf = (count: number): JudgedList => ({
  entries: [],
  byName: new Map(),
  changes: [],
  repeated: new Set([String(count)]),
  complete: true,
  nameless: 0,
});

/** A listing whose fetches end when the test says so. */
const openListing = () => {
  const flights: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const listing = createListing(
    () =>
      new Promise((resolve, reject) => {
        const list = listOf(flights.length + 1);
        flights.push({ resolve: () => resolve(list), reject });
      }),
  );
  const numberOf = async (list: Promise<JudgedList>) => Number([...(await list).repeated][0]);
  return { flights, listing, numberOf };
};

describe("a list of one child", () => {
  it("is fetched once for all that ask at the same time", async () => {
    const { flights, listing, numberOf } = openListing();
    const asked = [listing.ensure(), listing.ensure(), listing.show()];
    expect(flights).toHaveLength(1);
    flights[0]?.resolve();
    expect(await Promise.all(asked.map(numberOf))).toEqual([1, 1, 1]);
  });

  it("that was fetched for a call is shown to the client's first list request, and the next one asks again", async () => {
    const { flights, listing, numberOf } = openListing();
    const first = listing.ensure();
    flights[0]?.resolve();
    await first;
    expect(await numberOf(listing.show())).toBe(1);
    const second = listing.show();
    flights[1]?.resolve();
    expect(await numberOf(second)).toBe(2);
  });

  it("that was fetched before a change was announced is not used after it, also when it comes later", async () => {
    const { flights, listing, numberOf } = openListing();
    const before = listing.ensure();
    listing.invalidate();
    const after = listing.ensure();
    expect(flights).toHaveLength(1);
    flights[0]?.resolve();
    expect(await numberOf(before)).toBe(1);
    expect(listing.fresh).toBeUndefined();
    await expect.poll(() => flights).toHaveLength(2);
    flights[1]?.resolve();
    expect(await numberOf(after)).toBe(2);
    expect(listing.fresh).toBe(listing.last);
  });

  it("is waited for once by a call, however often changes are announced", async () => {
    const { flights, listing, numberOf } = openListing();
    const asked = listing.ensure();
    listing.invalidate();
    flights[0]?.resolve();
    expect(await numberOf(asked)).toBe(1);
  });

  it("costs one fetch at a time and one that waits, however often changes are announced and it is asked for", async () => {
    const { flights, listing, numberOf } = openListing();
    const first = listing.ensure();
    listing.invalidate();
    const second = listing.ensure();
    for (let count = 0; count < 100_000; count += 1) {
      listing.invalidate();
      listing.refresh();
      if (listing.ensure() !== second) throw new Error("a promise for each announcement");
    }
    flights[0]?.resolve();
    expect(await numberOf(first)).toBe(1);
    await expect.poll(() => flights).toHaveLength(2);
    listing.refresh();
    flights[1]?.resolve();
    expect(await numberOf(second)).toBe(2);
    expect(listing.fresh).toBe(listing.last);
    expect(flights).toHaveLength(2);
  });

  it("that failed is told to the client's list request once, and asked for again by the next call", async () => {
    const { flights, listing, numberOf } = openListing();
    const failing = listing.ensure();
    flights[0]?.reject(new Error("no"));
    await expect(failing).rejects.toThrow("no");
    await expect(listing.show()).rejects.toThrow("no");
    const again = listing.show();
    flights[1]?.resolve();
    expect(await numberOf(again)).toBe(2);
  });
});
