import {
  createLeases,
  createMemoryLeaseStore,
  type LeaseEvent,
  type LeaseStore,
  type Leases,
  type LeasesOptions,
  type ManagedProvider,
} from "../src/index.js";
import {
  createMemoryProvider,
  createMemoryWorld,
  type MemoryProgram,
  type MemoryProvider,
  type MemoryWorld,
} from "../src/memory.js";
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
      const life = createHostLife(machine);
      const leases = createLeases({
        store: guardedStore(store, life),
        providers: [guardedProvider(createMemoryProvider({ scheduler, world, programs }), life)],
        profiles,
        now: clock.now,
        scheduler: {
          now: scheduler.now,
          after: (delayMs, callback) => scheduler.after(delayMs, () => life.isAlive && callback()),
        },
        record: (event) => void (life.isAlive && machine.events.push(event)),
        onFault: (fault) => void machine.faults.push(fault),
        ...options,
      });
      return {
        leases,
        get isAlive() {
          return life.isAlive;
        },
        crash: life.crash,
      };
    },
  };
  return machine;
}

/** Between one host and its machine. */
interface HostLife {
  readonly isAlive: boolean;
  crash(): void;
  /** What a dead host calls has no effect, and what it waits for never comes. */
  guard<T>(call: string, work: () => Promise<T>): Promise<T>;
}

function createHostLife(machine: Machine): HostLife {
  let isAlive = true;
  const never = new Promise<never>(() => undefined);
  const crash = (): void => {
    isAlive = false;
  };
  return {
    get isAlive() {
      return isAlive;
    },
    crash,
    async guard(call, work) {
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
    },
  };
}

function guardedStore(store: LeaseStore, life: HostLife): LeaseStore {
  const { guard } = life;
  return {
    insert: (record) => guard("insert", () => store.insert(record)),
    update: (id, generation, change) =>
      guard(`update ${change.state ?? "same"}`, () => store.update(id, generation, change)),
    touch: (id, at) => life.isAlive && store.touch(id, at),
    get: (id) => guard("get", () => store.get(id)),
    list: (filter) => guard("list", () => store.list(filter)),
    listDue: (now) => guard("listDue", () => store.listDue(now)),
    prune: (before) => guard("prune", () => store.prune(before)),
    close: async () => undefined,
  };
}

function guardedProvider(inner: MemoryProvider, { guard }: HostLife): ManagedProvider {
  return {
    ...inner,
    create: (...given) => guard("create", () => inner.create(...given)),
    destroy: (name) => guard("destroy", () => inner.destroy(name)),
    exists: (name) => guard("exists", () => inner.exists(name)),
    listWorkers: () => guard("listWorkers", inner.listWorkers),
    attach: (...given) =>
      guard("attach", async () => inner.attach?.(...given) ?? Promise.reject(new Error("cannot attach"))),
  };
}
