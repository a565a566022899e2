import type { LeasesOptions } from "../src/index.js";
import { createLeases, createMemoryLeaseStore, type LeaseEvent, type LeaseStore, type Leases } from "../src/index.js";
import { createMemoryProvider, createMemoryWorld, type MemoryProgram, type MemoryWorld } from "../src/memory.js";
import { createTestClock, type TestClock } from "./clock.js";
import { profiles } from "./leased.js";

/** What befalls one call of the store or the provider. A crash drops the host: nothing of it has an effect any more. */
export type Fate = "fine" | "fails before" | "fails after" | "crashes before" | "crashes after";

/** One process of ours on the machine. */
export interface Host {
  readonly leases: Leases;
  readonly isAlive: boolean;
  crash(): void;
}

/** A machine with a store on its disk and workers, on which one host runs after the other. */
export interface Machine {
  readonly clock: TestClock;
  readonly world: MemoryWorld;
  /** The disk, without faults. */
  readonly store: LeaseStore;
  readonly events: LeaseEvent[];
  readonly faults: unknown[];
  /** Fates of the calls that come, by their number; `fine` when it gives none. */
  fate: (call: string) => Fate | undefined;
  boot(options?: Partial<LeasesOptions>): Host;
}

export function createMachine(programs: Readonly<Record<string, MemoryProgram>> = {}): Machine {
  const clock = createTestClock();
  const { scheduler } = clock;
  const world = createMemoryWorld({ scheduler });
  const store = createMemoryLeaseStore();
  const machine: Machine = {
    clock,
    world,
    store,
    events: [],
    faults: [],
    fate: () => undefined,
    boot(options = {}) {
      let isAlive = true;
      const never = new Promise<never>(() => undefined);
      const crash = (): void => {
        isAlive = false;
      };
      const guarded = async <T>(call: string, work: () => Promise<T>): Promise<T> => {
        if (!isAlive) return never;
        const fate = machine.fate(call) ?? "fine";
        if (fate === "crashes before") crash();
        if (!isAlive) return never;
        if (fate === "fails before") throw new Error(`${call} ${fate}`);
        const result = await work();
        if (fate === "crashes after") crash();
        if (!isAlive) return never;
        if (fate === "fails after") throw new Error(`${call} ${fate}`);
        return result;
      };
      const inner = createMemoryProvider({ scheduler, world, programs });
      const leases = createLeases({
        store: {
          insert: (record) => guarded("insert", () => store.insert(record)),
          update: (id, generation, change) => {
            const call = `update ${change.state ?? "same"}`;
            return guarded(call, () => store.update(id, generation, change));
          },
          touch: (id, at) => isAlive && store.touch(id, at),
          get: (id) => guarded("get", () => store.get(id)),
          list: (filter) => guarded("list", () => store.list(filter)),
          listDue: (now) => guarded("listDue", () => store.listDue(now)),
          prune: (before) => guarded("prune", () => store.prune(before)),
          close: async () => undefined,
        },
        providers: [
          {
            ...inner,
            create: (...given) => guarded("create", () => inner.create(...given)),
            destroy: (name) => guarded("destroy", () => inner.destroy(name)),
            exists: (name) => guarded("exists", () => inner.exists(name)),
            listWorkers: () => guarded("listWorkers", inner.listWorkers),
            attach: (...given) => guarded("attach", async () => inner.attach?.(...given) ?? never),
          },
        ],
        profiles,
        now: clock.now,
        scheduler: {
          now: scheduler.now,
          after: (delayMs, callback) => scheduler.after(delayMs, () => isAlive && callback()),
        },
        record: (event) => void (isAlive && machine.events.push(event)),
        onFault: (fault) => void machine.faults.push(fault),
        ...options,
      });
      return {
        leases,
        get isAlive() {
          return isAlive;
        },
        crash,
      };
    },
  };
  return machine;
}
