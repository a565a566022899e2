import type { RuntimeCapabilities } from "../capabilities.js";
import type { DisposableEnvironment } from "../environment.js";
import { LeaseError } from "../errors.js";
import type { ProfileTerms } from "../profile.js";
import type { ManagedProvider } from "../provider.js";
import { type Scheduler, systemScheduler } from "../scheduler.js";
import { createMemoryEnvironment } from "./environment.js";
import { builtInPrograms, type MemoryProgram } from "./programs.js";
import { createMemoryWorld, type MemoryWorker, type MemoryWorld } from "./world.js";

/** A call that is about to do something. */
export interface MemoryStep {
  readonly call: "create" | "attach" | "destroy" | "exists" | "listWorkers" | "run" | "open" | "close";
  /** Undefined for `listWorkers`. */
  readonly worker: string | undefined;
  /** `before` it has an effect, or `after`. */
  readonly when: "before" | "after";
}

/** What a provider in memory is made of. */
export interface MemoryProviderOptions {
  /** Default `memory`. */
  readonly name?: string | undefined;
  /** Over those of a provider that holds everything. */
  readonly capabilities?: Partial<RuntimeCapabilities> | undefined;
  /** Default: one of its own. Must come from `createMemoryWorld`. */
  readonly world?: MemoryWorld | undefined;
  /** Beside the built-in ones: `echo`, `exit`, `flood`, `copy`, `wait`, `resist`. */
  readonly programs?: Readonly<Record<string, MemoryProgram>> | undefined;
  /** Injects faults: what it throws fails the call, what never resolves lets it hang. */
  readonly onStep?: ((step: MemoryStep) => void | Promise<void>) | undefined;
  /** Answers in place of the truth. */
  readonly presence?: ((worker: string) => "yes" | "no" | "unknown" | undefined) | undefined;
  /** Whether `attach` is there. Default true. */
  readonly canAttach?: boolean | undefined;
  /** Drives timeouts and the workers' own deadlines. Default: the system's. */
  readonly scheduler?: Scheduler | undefined;
}

/** A provider whose workers are objects: for tests of leases and of hosts. It confines nothing. */
export interface MemoryProvider extends ManagedProvider {
  readonly world: MemoryWorld;
}

const everything: RuntimeCapabilities = {
  isolated: true,
  platforms: ["linux"],
  networkModes: ["none", "internet", "allowlist"],
  elevationModes: [false, true],
  packageModes: ["disabled", "environment", "system"],
  exposureModes: [false, true],
  shell: true,
  limits: ["memoryBytes", "processes", "cpus", "fileBytes", "openFiles", "workspaceBytes", "tmpBytes"],
};

export function createMemoryProvider(options: MemoryProviderOptions = {}): MemoryProvider {
  const { name = "memory", scheduler = systemScheduler, world = createMemoryWorld({ scheduler }) } = options;
  const own = new Set<string>();
  let isClosed = false;
  const assertOpen = (): void => {
    if (isClosed) throw new LeaseError("ENVIRONMENT_NOT_CREATED", `the provider ${name} is closed`);
  };
  const makers = createMakers(options, { world, scheduler, own, assertOpen });
  const { stepping, create, attach } = makers;
  return {
    name,
    world,
    capabilities: { ...everything, ...options.capabilities },
    create,
    listWorkers: () => stepping("listWorkers", undefined, () => world.workers),
    exists: (worker) =>
      stepping("exists", worker, () => options.presence?.(worker) ?? (world.find(worker) === undefined ? "no" : "yes")),
    destroy: (worker) =>
      stepping("destroy", worker, () => {
        world.find(worker)?.end({ reason: "closed", detail: "destroyed" });
        own.delete(worker);
      }),
    ...(options.canAttach === false ? {} : { attach }),
    async close() {
      isClosed = true;
      for (const worker of own) world.find(worker)?.end({ reason: "closed", detail: "its provider was closed" });
    },
  };
}

interface Surroundings {
  readonly world: MemoryWorld;
  readonly scheduler: Scheduler;
  /** Workers that this provider made or took over. */
  readonly own: Set<string>;
  readonly assertOpen: () => void;
}

interface Makers extends Required<Pick<ManagedProvider, "create" | "attach">> {
  stepping<T>(call: MemoryStep["call"], worker: string | undefined, work: () => T): Promise<T>;
}

function createMakers(options: MemoryProviderOptions, { world, scheduler, own, assertOpen }: Surroundings): Makers {
  const programs = new Map(Object.entries({ ...builtInPrograms, ...options.programs }));
  const stepping: Makers["stepping"] = async (call, worker, work) => {
    await options.onStep?.({ call, worker, when: "before" });
    const result = work();
    await options.onStep?.({ call, worker, when: "after" });
    return result;
  };
  const environmentOf = (worker: MemoryWorker, profile: ProfileTerms): DisposableEnvironment => {
    const before = async (call: "run" | "open" | "close"): Promise<void> => {
      await options.onStep?.({ call, worker: worker.name, when: "before" });
    };
    return createMemoryEnvironment({ worker, profile, programs, scheduler, before });
  };
  return {
    stepping,
    async create(worker, profile, { deadlineMs, signal }) {
      signal?.throwIfAborted();
      if (world.find(worker) !== undefined) throw new LeaseError("ENVIRONMENT_NOT_CREATED", `${worker} exists`);
      try {
        const environment = await stepping("create", worker, () => {
          assertOpen();
          own.add(worker);
          return environmentOf(world.start(worker, deadlineMs), profile);
        });
        signal?.throwIfAborted();
        return environment;
      } catch (error) {
        world.find(worker)?.end({ reason: "closed", detail: "not created" });
        throw error;
      }
    },
    async attach(worker, profile, { deadlineMs, signal }) {
      signal?.throwIfAborted();
      return stepping("attach", worker, () => {
        assertOpen();
        const found = world.find(worker);
        if (found === undefined) throw new LeaseError("ENVIRONMENT_ENDED", `there is no worker ${worker}`);
        own.add(worker);
        found.setDeadline(deadlineMs);
        return environmentOf(found, profile);
      });
    },
  };
}
