import type { LeaseEndReason, LeaseRecord } from "./lease.js";
import type { LeaseEvent } from "./lease-event.js";
import type { AcquireOptions, Lease, WarmLease, WarmOptions } from "./lease-handle.js";
import type { EnvironmentProfile } from "./profile.js";
import type { ManagedProvider } from "./provider.js";
import type { Scheduler } from "./scheduler.js";
import type { LeaseStore } from "./store.js";

/** Bounds of a set of leases. */
export interface LeaseLimits {
  /** Active leases of one owner: 1 to 1_024. Default 5. With those that are being cleaned up, twice as many. */
  readonly maxPerOwner?: number | undefined;
  /** Leases that are not terminal, warm ones included: 1 to 4_096. Default 64. */
  readonly maxTotal?: number | undefined;
  /** Lifetime of an unrenewed lease: 1_000 to 86_400_000 ms. Default 900_000. */
  readonly defaultTtlMs?: number | undefined;
  /** No lease lives longer, however often it is renewed: 1_000 to 2_592_000_000 ms. Default 86_400_000. */
  readonly maxLifetimeMs?: number | undefined;
  /** Commands waiting in one lease: 1 to 1_024. Default 32. */
  readonly maxQueued?: number | undefined;
  /** Processes and terminals that are open in one lease: 1 to 1_024. Default 64. */
  readonly maxOpened?: number | undefined;
  /** Longest time between sweeps; one comes earlier when a lease is due: 100 to 3_600_000 ms. Default 30_000. */
  readonly sweepMs?: number | undefined;
  /** How long a release waits for running work before it is killed: 0 to 600_000 ms. Default 5_000. */
  readonly graceMs?: number | undefined;
  /** How long a provider may take to create a worker: 100 to 600_000 ms. Default 60_000. */
  readonly createMs?: number | undefined;
  /** How long one attempt to destroy a worker and to see its absence may take: 100 to 600_000 ms. Default 30_000. Above, it is unconfirmed and tried again. */
  readonly destroyMs?: number | undefined;
  /** How long terminal rows are kept: 0 to 31_536_000_000 ms. Default 604_800_000. */
  readonly retentionMs?: number | undefined;
  /** How long `close` may take: 0 to 600_000 ms. Default 30_000. */
  readonly closeMs?: number | undefined;
}

/** What a set of leases works with. */
export interface LeasesOptions {
  readonly store: LeaseStore;
  readonly providers: readonly ManagedProvider[];
  /** By name. The function form is for profiles that differ by owner (an own folder); it must give the same answer each time. */
  readonly profiles: Readonly<Record<string, EnvironmentProfile>> | ((name: string) => EnvironmentProfile | undefined);
  /**
   * Awaited before the step that it tells of has an effect outside: `reserved` before the worker exists, `command.intent`
   * before the command starts. A rejection there refuses the step. Later kinds are told after the fact; a rejection is told
   * to `onFault` and changes nothing.
   */
  readonly record?: ((event: LeaseEvent) => Promise<void> | void) | undefined;
  /** Faults that no caller sees: of a sweep, a recorder, a cleanup that is retried. */
  readonly onFault?: ((fault: unknown) => void) | undefined;
  readonly limits?: LeaseLimits | undefined;
  /** Names this process in rows: 1 to 200 characters. Default: pid, start time and boot id. */
  readonly host?: string | undefined;
  /** Wall clock, milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Monotonic clock and timers. Default: the system's. */
  readonly scheduler?: Scheduler | undefined;
  /** Default `crypto.randomBytes`. */
  readonly randomBytes?: ((size: number) => Uint8Array) | undefined;
  /** What becomes of living workers of an earlier process whose lease has not expired. Default `destroy`. */
  readonly onRecovery?: "destroy" | "attach" | undefined;
  /** Lets providers that isolate nothing be leased. Default false: their profiles are refused. */
  readonly allowUnconfined?: boolean | undefined;
}

/** Durable leases on disposable environments. */
export interface Leases extends AsyncDisposable {
  /**
   * Makes a worker and gives it to its owner. Rejects with `OPTION_INVALID`, `PROFILE_UNKNOWN`, `PROVIDER_UNKNOWN`,
   * `CAPABILITY_MISSING`, `QUOTA_REACHED`, `ENVIRONMENT_NOT_CREATED`, `STORE_FAILED`, `LEASES_CLOSED`, what `record` threw, or the
   * signal's reason; then nothing is left of it, or it is `releasing` in the list.
   */
  acquire(options: AcquireOptions): Promise<Lease>;
  /** Makes a worker ahead of time. Rejects as `acquire` does. */
  warm(options: WarmOptions): Promise<WarmLease>;
  /** A foreign and an unknown id give the same `LEASE_NOT_FOUND`. Without `owner`: for the operator. */
  get(id: string, owner?: string): Promise<LeaseRecord>;
  /** The living handle of a lease of this process. */
  find(id: string, owner: string): Lease | undefined;
  /** In order of creation, terminal rows too until they are pruned. Without `owner`: of all, for the operator. */
  list(filter?: { readonly owner?: string | undefined }): Promise<readonly LeaseRecord[]>;
  /** For the operator. */
  release(
    id: string,
    options?: { readonly owner?: string | undefined; readonly reason?: LeaseEndReason | undefined },
  ): Promise<LeaseRecord>;
  /** Reads the store, ends what is due, retries what is releasing. Runs by itself every `sweepMs`, and when the next lease is due. */
  sweep(): Promise<SweepResult>;
  /** Call once, before serving. Idempotent under a crash at any point. */
  recover(): Promise<RecoveryResult>;
  /** Which profiles can be leased now, and why others cannot. */
  readonly profiles: readonly ProfileStatus[];
  /** Refuses new work, releases all, within `closeMs`; unfinished rows stay for the next recovery. */
  close(): Promise<void>;
}

/** What one sweep did: numbers of leases. */
export interface SweepResult {
  readonly ended: number;
  readonly released: number;
  /** Still `releasing`: the provider could not confirm. */
  readonly unconfirmed: number;
}

/** What became of the leases of earlier processes. */
export interface RecoveryResult extends SweepResult {
  readonly attached: number;
  readonly lost: number;
  readonly orphans: number;
}

/** Whether a profile can be leased here. */
export interface ProfileStatus {
  readonly profile: string;
  readonly provider: string;
  readonly isolated: boolean;
  /** Undefined when it can be leased. */
  readonly refusal: { readonly message: string; readonly cure: string | undefined } | undefined;
}
