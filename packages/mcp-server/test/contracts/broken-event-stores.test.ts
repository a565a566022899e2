import { describe, expect, it } from "vitest";
import { type ContractCheck, eventStoreContract, type OpenedEventStore } from "../../src/contracts.js";
import { brokenKeeping } from "./broken-events/keeping.js";
import { brokenOrder } from "./broken-events/order.js";
import { type BrokenEventStore, soundStore } from "./broken-events/sound.js";
import { named, refusalOf, refusals } from "./refused.js";

const brokenEventStores = [...brokenKeeping, ...brokenOrder];

function checksOf(breakIt: BrokenEventStore["breakIt"], rounds = 20, seed = 1): readonly ContractCheck[] {
  const open = (isSmall: boolean): OpenedEventStore => {
    const sound = soundStore(isSmall);
    return { store: { ...sound, ...breakIt(sound) } };
  };
  return eventStoreContract(() => open(false), { openSmall: () => open(true), rounds, seed });
}

describe("the contract of a store of events", () => {
  it("takes a sound store", async () => {
    expect(await refusals(checksOf(() => ({})))).toEqual([]);
  });

  it.each(brokenEventStores)("refuses one that $fault", async ({ breakIt, checks }) => {
    const refused = await refusals(checksOf(breakIt));
    for (const part of checks) expect(refused).toContainEqual(expect.stringContaining(part));
  });

  it("has a check for each fault, and a fault for each check", () => {
    const names = checksOf(() => ({})).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const parts = brokenEventStores.flatMap(({ checks }) => checks);
    for (const part of parts) expect(names).toContainEqual(expect.stringContaining(part));
    expect(names.filter((name) => !parts.some((part) => name.includes(part)))).toEqual([]);
  });

  it("names the seed that brings a sequence of random steps back", async () => {
    const { breakIt } = brokenEventStores.find(({ fault }) => fault.startsWith("loses the 25th")) ?? {};
    const again = (rounds: number, seed: number): Promise<string | undefined> =>
      refusalOf(named(checksOf(breakIt ?? (() => ({})), rounds, seed), "each stream is a list"));
    const message = await again(20, 1);
    const [, seed] = /again with \{ seed: (\d+), rounds: 1 \}$/.exec(message ?? "") ?? [];
    expect(await again(1, Number(seed))).toBe(message);
  });
});
