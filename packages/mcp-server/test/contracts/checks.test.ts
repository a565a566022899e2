import { describe, expect, it } from "vitest";
import {
  type ContractCheck,
  eventStoreContract,
  type OpenedTaskStore,
  type TaskStore,
  taskStoreContract,
} from "../../src/contracts.js";
import { createMemoryEventStore } from "../../src/http.js";
import { createMemoryTaskStore } from "../../src/tasks.js";
import { named, refusals } from "./refused.js";

const sound = (): OpenedTaskStore => ({ store: createMemoryTaskStore() });
const withStore = (broken: object, close?: () => void): OpenedTaskStore => ({
  store: { ...createMemoryTaskStore(), ...broken },
  ...(close === undefined ? {} : { close }),
});
const first = "create keeps a task";
const random = "it is a map with versions";

describe("a check of a contract", () => {
  it.each([
    { what: "that holds", broken: {}, opened: 1 },
    { what: "that does not", broken: { create: async () => undefined }, opened: 1 },
    { what: "whose store throws", broken: { create: null }, opened: 1 },
  ])("$what opens one store and closes it once", async ({ broken, opened }) => {
    const count = { open: 0, close: 0 };
    const open = (): OpenedTaskStore => {
      count.open += 1;
      return withStore(broken, () => {
        count.close += 1;
      });
    };
    await refusals([named(taskStoreContract(open), first)]);
    expect(count).toEqual({ open: opened, close: opened });
  });

  it("of random steps opens and closes a store for each round", async () => {
    let open = 0;
    let most = 0;
    const opener = (): OpenedTaskStore => {
      open += 1;
      most = Math.max(most, open);
      return withStore({}, () => {
        open -= 1;
      });
    };
    await named(taskStoreContract(opener, { rounds: 7 }), random).run();
    expect({ open, most }).toEqual({ open: 0, most: 1 });
  });

  it("may run again, and beside the others", async () => {
    const checks = taskStoreContract(sound);
    await Promise.all([...checks, ...checks].map(({ run }) => run()));
  });

  it("closes only when no call is under way any more, and leaves no rejection that nobody handles", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    const atClose: number[] = [];
    const open = (): OpenedTaskStore => {
      let underWay = 0;
      const create = async (): Promise<void> => {
        underWay += 1;
        for (let turn = 0; turn < underWay; turn += 1) await new Promise(setImmediate);
        underWay -= 1;
        throw new Error("no disk");
      };
      return withStore({ create }, () => void atClose.push(underWay));
    };
    const refused = await refusals(taskStoreContract(open, { rounds: 1 }));
    await new Promise(setImmediate);
    process.off("unhandledRejection", note);
    expect(refused.length).toBeGreaterThan(10);
    expect([new Set(atClose), unhandled]).toEqual([new Set([0]), []]);
  });

  it("that cannot open or close says so, and tells both when it fails and cannot close", async () => {
    const noRoom = (): never => {
      throw new Error("no room");
    };
    const failing = (check: ContractCheck): Promise<unknown> =>
      check.run().then(
        () => undefined,
        (error: unknown) => error,
      );
    const opened = await failing(named(taskStoreContract(noRoom), first));
    expect(opened).toMatchObject({
      message: expect.stringContaining("wanted: open() succeeds\nseen: Error: no room"),
    });
    const closed = await failing(
      named(
        taskStoreContract(() => withStore({}, noRoom)),
        first,
      ),
    );
    expect(closed).toMatchObject({
      message: expect.stringContaining("wanted: close() succeeds\nseen: Error: no room"),
    });
    const both = await failing(
      named(
        taskStoreContract(() => withStore({ create: null }, noRoom)),
        first,
      ),
    );
    expect(both).toMatchObject({
      name: "AggregateError",
      message: expect.stringContaining("store.create is not a function"),
    });
  });

  it.each<{ name: string; broken: Partial<TaskStore>; seen: string }>([
    {
      name: "never settles",
      broken: { read: () => new Promise(() => undefined) },
      seen: "settles within 50 ms (callMs)",
    },
    {
      name: "rejects with what is no error",
      broken: { read: () => Promise.reject("no") },
      seen: "seen: 'no'",
    },
  ])("names the call that $name", async ({ broken, seen }) => {
    const check = named(
      taskStoreContract(() => withStore(broken), { callMs: 50 }),
      first,
    );
    await expect(check.run()).rejects.toMatchObject({ message: expect.stringContaining(seen) });
  });
});

describe("the list of checks", () => {
  it("has those of little room and of reopening only where the store can be opened so", () => {
    const count = (options: Parameters<typeof taskStoreContract>[1]): number =>
      taskStoreContract(sound, options).length;
    const [plain, small, durable] = [count({}), count({ openSmall: sound }), count({ reopen: ({ store }) => store })];
    expect([plain, small - plain, durable - plain]).toEqual([22, 3, 5]);
    const events = { store: createMemoryEventStore() };
    const openSmall = () => events;
    expect([eventStoreContract(() => events), eventStoreContract(() => events, { openSmall })]).toMatchObject([
      { length: 10 },
      { length: 12 },
    ]);
  });

  it.each([
    { options: { seed: -1 }, error: RangeError },
    { options: { seed: 4_294_967_296 }, error: RangeError },
    { options: { rounds: 0 }, error: RangeError },
    { options: { callMs: 9 }, error: RangeError },
    { options: { round: 3 }, error: TypeError },
    { options: { rounds: "3" }, error: TypeError },
    { options: { openSmall: { store: undefined } }, error: TypeError },
  ])("is not made for options that are none: $options", ({ options, error }) => {
    const make: (open: () => OpenedTaskStore, options: object) => unknown = taskStoreContract;
    expect(() => make(sound, options)).toThrow(error);
    const makeEvents: (open: () => { store: ReturnType<typeof createMemoryEventStore> }, options: object) => unknown =
      eventStoreContract;
    expect(() => makeEvents(() => ({ store: createMemoryEventStore() }), options)).toThrow(error);
  });
});
