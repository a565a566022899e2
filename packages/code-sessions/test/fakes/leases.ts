import {
  type AcquireOptions,
  type EnvironmentEnd,
  type Lease,
  LeaseError,
  type LeaseRecord,
  type Leases,
  type WarmLease,
} from "@berth/environment-leases";
import { type Deferred, deferred } from "./deferred.js";

/** One environment of the fake, as a test sees it. */
export interface FakeEnvironment {
  readonly id: string;
  readonly profile: string;
  readonly restriction: string | undefined;
  owner: string | undefined;
  asked: Omit<AcquireOptions, "profile"> | undefined;
  readonly ended: Deferred<EnvironmentEnd>;
  state: "warm" | "active" | "closed";
}

/** Leases without environments: what a set of sessions asks of them, and faults on demand. */
export interface FakeLeases {
  readonly leases: Leases;
  readonly environments: readonly FakeEnvironment[];
  /** The next warm-ups fail with these, in turn. */
  readonly warmFaults: unknown[];
  readonly activateFaults: unknown[];
  /** Held back until this resolves, when it is set. */
  hold: Promise<void> | undefined;
  /** What environments whose start begins from now on say of themselves. */
  restriction: string | undefined;
}

const unused = (what: string) => (): never => {
  throw new Error(`the fake has no ${what}`);
};

export function createFakeLeases(): FakeLeases {
  const environments: FakeEnvironment[] = [];
  const recordOf = ({ id, owner, profile, state }: FakeEnvironment): LeaseRecord => ({
    id,
    owner,
    profile,
    provider: "fake",
    worker: `mcp-${id}`,
    state: state === "warm" ? "reserved" : state === "active" ? "active" : "released",
    generation: 1,
    createdAt: 0,
    expiresAt: 1_000,
    ceilingAt: 1_000,
    idleMs: undefined,
    lastUsedAt: 0,
    host: "fake",
    cleanupAttempts: 0,
    endReason: undefined,
    endedAt: undefined,
    lastError: undefined,
    labels: {},
  });
  const close = async (environment: FakeEnvironment): Promise<void> => {
    environment.state = "closed";
    environment.ended.resolve({ reason: "closed", detail: "" });
  };
  const shared = { workspace: "/workspace", interpreter: "/usr/bin/python3", open: unused("open") };
  const leaseOf = (environment: FakeEnvironment, owner: string): Lease => ({
    ...shared,
    id: environment.id,
    owner,
    profile: environment.profile,
    record: recordOf(environment),
    enforced: [],
    isolated: true,
    restriction: environment.restriction,
    ended: environment.ended.promise.then((end) => ({ reason: "released", end })),
    touch: () => undefined,
    run: unused("run"),
    openTerminal: unused("openTerminal"),
    installPackages: unused("installPackages"),
    requestResource: unused("requestResource"),
    renew: async () => recordOf(environment),
    usage: () => ({ memoryBytes: undefined, processes: undefined }),
    release: () => close(environment),
    [Symbol.asyncDispose]: () => close(environment),
  });
  const warmLease = (environment: FakeEnvironment): WarmLease => ({
    id: environment.id,
    environment: {
      ...shared,
      restriction: environment.restriction,
      ended: environment.ended.promise.then((end) => ({ reason: "discarded", end })),
    },
    async activate(asked) {
      const fault = fake.activateFaults.shift();
      if (fault !== undefined) throw fault;
      if (environment.state !== "warm") throw new LeaseError("LEASE_ENDED", "it is gone");
      Object.assign(environment, { owner: asked.owner, asked, state: "active" });
      return leaseOf(environment, asked.owner);
    },
    close: () => close(environment),
    [Symbol.asyncDispose]: () => close(environment),
  });
  const fake: FakeLeases = {
    environments,
    warmFaults: [],
    activateFaults: [],
    hold: undefined,
    restriction: undefined,
    leases: {
      acquire: unused("acquire"),
      async warm({ profile, signal }) {
        const { restriction } = fake;
        await fake.hold;
        signal?.throwIfAborted();
        const fault = fake.warmFaults.shift();
        if (fault !== undefined) throw fault;
        const environment: FakeEnvironment = {
          id: `lease-${environments.length + 1}`,
          profile,
          restriction,
          owner: undefined,
          asked: undefined,
          ended: deferred(),
          state: "warm",
        };
        environments.push(environment);
        return warmLease(environment);
      },
      get: unused("get"),
      find: () => undefined,
      list: async () => [],
      release: unused("release"),
      sweep: unused("sweep"),
      recover: unused("recover"),
      profiles: [],
      close: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    },
  };
  return fake;
}
