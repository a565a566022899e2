import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { verifyLog } from "../src/index.js";
import { entriesOf, logFolder, open, rejection, writeLog } from "./scratch.js";

const start = Date.parse("2026-05-01T12:00:00.000Z");

/** A clock that shows these offsets from `start` one after the other. */
function clockOf(offsets: readonly number[]): () => number {
  const left = [...offsets];
  return () => start + (left.shift() ?? 0);
}

describe("a clock that goes back", () => {
  it("is recorded as it was and flagged, and the log verifies", async () => {
    // The lock and the beginning of the segment look at the clock too.
    const directory = await writeLog([{ type: "a" }, { type: "b" }, { type: "c" }], {
      now: clockOf([0, 0, 5_000, 2_000, 2_000]),
    });
    const entries = await entriesOf(directory);
    expect(entries.map(({ time, clock }) => [time.slice(17), clock])).toEqual([
      ["05.000Z", undefined],
      ["02.000Z", "back"],
      ["02.000Z", undefined],
    ]);
    const report = await verifyLog(directory, { strict: true });
    expect(report.problems).toEqual([]);
    expect(report.notices).toEqual([expect.objectContaining({ code: "CLOCK_BACK", seq: 2 })]);
  });

  it("is flagged over a restart as well", async () => {
    const directory = await writeLog([{ type: "a" }], { now: clockOf([0, 0, 5_000]) });
    await writeLog([{ type: "b" }], { directory, now: () => start });
    const entries = await entriesOf(directory);
    expect(entries.map(({ clock }) => clock)).toEqual([undefined, "back"]);
    expect((await verifyLog(directory)).ok).toBe(true);
  });

  it("is not flagged because of an entry that was refused", async () => {
    const directory = logFolder();
    await using chain = await open(directory, { now: clockOf([0, 0, 1_000, 9_000, 9_000, 2_000]) });
    await chain.append({ type: "a" });
    await rejection(chain.append({ type: "" }));
    await rejection(chain.append({ type: "a", n: Number.NaN }));
    await chain.append({ type: "b" });
    expect((await verifyLog(directory)).notices).toEqual([]);
  });
});

it("entries bear the time of their own millisecond, within a second and across its end", async () => {
  const offsets = [0, 0, 7, 7, 8, 42, 999, 1_000, 59_999, 60_000, 61_005, 2_007, 999, 86_400_000, 86_400_001];
  const directory = await writeLog(
    offsets.slice(2).map(() => ({ type: "a" })),
    { now: clockOf(offsets) },
  );
  const times = offsets.slice(2).map((offset) => new Date(start + offset).toISOString());
  expect((await entriesOf(directory)).map(({ time }) => time)).toEqual(times);
});

describe("with a monotonic clock", () => {
  const flags = async (wall: number[], steady: number[]): Promise<unknown[]> => {
    const left = [...steady];
    const directory = await writeLog(
      wall.map(() => ({ type: "a" })),
      { now: clockOf([0, 0, ...wall]), monotonic: () => left.shift() ?? 0 },
    );
    expect((await verifyLog(directory, { strict: true })).ok).toBe(true);
    return (await entriesOf(directory)).map(({ clock }) => clock);
  };

  // The beginning of the segment looks at the monotonic clock once.
  it.each([
    { name: "an even pace", wall: [0, 60_000], steady: [0, 0, 60_000], expected: [undefined, undefined] },
    { name: "a step forward", wall: [0, 60_000], steady: [0, 0, 10], expected: [undefined, "stepped"] },
    { name: "a step back that time hides", wall: [0, 1_000], steady: [0, 0, 60_000], expected: [undefined, "stepped"] },
    { name: "a step back", wall: [0, -1], steady: [0, 0, 60_000], expected: [undefined, "back"] },
    { name: "a second of difference", wall: [0, 1_000], steady: [0, 0, 0], expected: [undefined, undefined] },
    { name: "slewing over an hour", wall: [0, 3_604_000], steady: [0, 0, 3_600_000], expected: [undefined, undefined] },
  ])("$name", async ({ wall, steady, expected }) => {
    expect(await flags(wall, steady)).toEqual(expected);
  });
});

it.each([Number.NaN, -1, 253_402_300_800_000])("a clock that reads %d opens no log", async (reading) => {
  const directory = logFolder();
  expect(await rejection(open(directory, { now: () => reading }))).toMatchObject({ code: "OPTIONS_INVALID" });
  expect(existsSync(directory)).toBe(false);
});

it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, 253_402_300_800_000])(
  "a clock that reads %d is refused",
  async (reading) => {
    const directory = logFolder();
    let wrong = false;
    await using chain = await open(directory, { now: () => (wrong ? reading : start) });
    await chain.append({ type: "a" });
    wrong = true;
    expect(await rejection(chain.append({ type: "b" }))).toMatchObject({ code: "ENTRY_INVALID" });
  },
);
