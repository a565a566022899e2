import {
  createLeases,
  createMemoryLeaseStore,
  type EnvironmentProfile,
  type LeaseEvent,
  type LeaseStore,
  type Leases,
  type LeasesOptions,
} from "../src/index.js";
import {
  createMemoryProvider,
  createMemoryWorld,
  type MemoryProvider,
  type MemoryProviderOptions,
  type MemoryWorld,
} from "../src/memory.js";
import { createTestClock, type TestClock } from "./clock.js";

export const profiles = {
  python: { provider: "memory", template: "python3" },
  open: {
    provider: "memory",
    template: "python3",
    shell: true,
    policy: { packages: "system", exposeResources: true, exposedPorts: [8080] },
  },
} as const satisfies Record<string, EnvironmentProfile>;

/** Leases over memory, and all that a test looks at. */
export interface Leased {
  readonly leases: Leases;
  readonly store: LeaseStore;
  readonly provider: MemoryProvider;
  readonly world: MemoryWorld;
  readonly clock: TestClock;
  readonly events: LeaseEvent[];
  readonly faults: unknown[];
}

export interface LeasedOptions extends Partial<LeasesOptions> {
  readonly clock?: TestClock;
  readonly world?: MemoryWorld;
  readonly memory?: MemoryProviderOptions;
}

export function createLeased({ clock = createTestClock(), world, memory, ...options }: LeasedOptions = {}): Leased {
  const { scheduler } = clock;
  const ownWorld = world ?? createMemoryWorld({ scheduler });
  const store = options.store ?? createMemoryLeaseStore();
  const provider = createMemoryProvider({ scheduler, world: ownWorld, ...memory });
  const events: LeaseEvent[] = [];
  const faults: unknown[] = [];
  const leases = createLeases({
    store,
    providers: [provider],
    profiles,
    now: clock.now,
    scheduler,
    record: (event) => void events.push(event),
    onFault: (fault) => void faults.push(fault),
    ...options,
  });
  return { leases, store, provider, world: ownWorld, clock, events, faults };
}

/** The code of a rejection; fails for what resolves. */
export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  const outcome = await work.then(
    () => "resolved",
    (error: unknown) => error,
  );
  if (outcome instanceof Error && "code" in outcome) return outcome.code;
  return outcome;
}

export const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
