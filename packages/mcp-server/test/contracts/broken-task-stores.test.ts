import { describe, expect, it } from "vitest";
import { type ContractCheck, type OpenedTaskStore, taskStoreContract } from "../../src/contracts.js";
import type { TaskStore } from "../../src/tasks.js";
import { brokenKeeping } from "./broken-tasks/keeping.js";
import { brokenListing } from "./broken-tasks/listing.js";
import { brokenReplacing } from "./broken-tasks/replacing.js";
import { brokenRoom } from "./broken-tasks/room.js";
import { type BrokenTaskStore, type Disk, soundStore } from "./broken-tasks/sound.js";
import { named, refusalOf, refusals } from "./refused.js";

const brokenTaskStores = [...brokenKeeping, ...brokenReplacing, ...brokenListing, ...brokenRoom];

interface OpenedDisk extends OpenedTaskStore {
  readonly disk: Disk;
  readonly removed: Disk;
  readonly isSmall: boolean;
}

function checksOf(breakIt: BrokenTaskStore["breakIt"], callMs = 1_000): readonly ContractCheck[] {
  const storeOver = (disk: Disk, removed: Disk, isSmall: boolean, isReopened: boolean): TaskStore => {
    const sound = soundStore(disk, isSmall);
    return { ...sound, ...breakIt(sound, disk, isReopened, removed) };
  };
  const open = (isSmall: boolean): OpenedDisk => {
    const disk: Disk = new Map();
    const removed: Disk = new Map();
    return { store: storeOver(disk, removed, isSmall, false), disk, removed, isSmall };
  };
  return taskStoreContract(() => open(false), {
    openSmall: () => open(true),
    reopen: ({ disk, removed, isSmall }) => storeOver(disk, removed, isSmall, true),
    rounds: 20,
    callMs,
  });
}

describe("the contract of a store of tasks", () => {
  it("takes a sound store", async () => {
    expect(await refusals(checksOf(() => ({}), 10_000))).toEqual([]);
  });

  it.each(brokenTaskStores)("refuses one that $fault", async ({ breakIt, checks }) => {
    const refused = await refusals(checksOf(breakIt));
    for (const part of checks) expect(refused).toContainEqual(expect.stringContaining(part));
  });

  it("has a check for each fault, and a fault for each check", () => {
    const names = checksOf(() => ({})).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const parts = brokenTaskStores.flatMap(({ checks }) => checks);
    for (const part of parts) expect(names).toContainEqual(expect.stringContaining(part));
    expect(names.filter((name) => !parts.some((part) => name.includes(part)))).toEqual([]);
  });

  it("says what it wants, what it saw, and the calls that led to it", async () => {
    const { breakIt } = brokenTaskStores.find(({ fault }) => fault === "updates without comparing") ?? {};
    expect(await refusalOf(named(checksOf(breakIt ?? (() => ({}))), "update is false for another version"))).toBe(
      [
        "the contract is broken: update is false for another version, older or newer, and changes nothing",
        "wanted: version 9 is not there, 10 is: false",
        "seen: true",
        "after these steps:",
        "  1. open() -> open",
        '  2. create("a-------------------------------" version 10 by "kept") -> \'created\'',
        '  3. update("a-------------------------------" version 10 by "not expected", 9) -> true',
      ].join("\n"),
    );
  });
});
