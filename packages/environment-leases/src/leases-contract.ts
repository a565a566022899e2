import type {
  ApprovedWheel,
  CommandOptions,
  CommandResult,
  EnvironmentEnd,
  GuestProcess,
  GuestProcessOptions,
  HeldLimit,
  InstallOptions,
  ResourceRequest,
  ResourceResponse,
  TerminalChannel,
} from "./environment.js";
import type { LeaseEndReason, LeaseRecord } from "./lease.js";
import type { EnvironmentProfile } from "./profile.js";
import type { ManagedProvider } from "./provider.js";
import type { Scheduler } from "./scheduler.js";
import type { LeaseStore } from "./store.js";

/** What was asked of an environment. */
export type LeaseOperation = "run" | "open" | "terminal" | "install" | "request";

/** Something that happened to a lease, for an audit record. Holds no payload: sizes and digests only. */
export type LeaseEvent =
  | {
      readonly kind: "reserved" | "active" | "renewed" | "releasing" | "released" | "lost";
      readonly lease: LeaseRecord;
      readonly enforced?: readonly HeldLimit[] | undefined;
      readonly isolated: boolean;
    }
  | {
      readonly kind: "command.intent";
      readonly lease: LeaseRecord;
      /** 16 hexadecimal digits; its outcome has the same. */
      readonly command: string;
      readonly operation: LeaseOperation;
      /** SHA-256 in hexadecimal of the JSON text of the argument list. */
      readonly argvDigest: string;
      readonly argvCount: number;
    }
  | {
      readonly kind: "command.outcome";
      readonly lease: LeaseRecord;
      readonly command: string;
      readonly operation: LeaseOperation;
      /** `exited`, `signalled`, `ended` (what was opened is no more), `aborted`, `discarded` (the lease ended meanwhile), or the code of an error. */
      readonly outcome: string;
      readonly exitCode: number | undefined;
      readonly durationMs: number;
      readonly stdoutBytes: number;
      readonly stderrBytes: number;
    }
  | { readonly kind: "orphan"; readonly provider: string; readonly worker: string };

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

/** Who wants which environment, and for how long. */
export interface AcquireOptions {
  /** Principal that will own it: 1 to 200 characters. */
  readonly owner: string;
  readonly profile: string;
  /** Hard lifetime: 1_000 ms to `maxLifetimeMs`. Default `defaultTtlMs`. */
  readonly ttlMs?: number | undefined;
  /** Ends after so long without use: 1_000 to 86_400_000. What counts as use: every operation's start and end. Default: never. */
  readonly idleMs?: number | undefined;
  /** What is to be found again in the row: at most 64, and 4 KiB as JSON. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What is made ahead of time. */
export interface WarmOptions {
  readonly profile: string;
  /** How long it may wait for its owner: 1_000 to `maxLifetimeMs`. Default 3_600_000. */
  readonly maxAgeMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A worker that is up and waits for an owner. */
export interface WarmLease extends AsyncDisposable {
  readonly id: string;
  /** The environment, to prepare it: start an interpreter. Nothing of any client has been in it. */
  readonly environment: Pick<Lease, "open" | "workspace" | "interpreter" | "ended">;
  /** Gives it to its one owner, for good. Rejects with `LEASE_ENDED` when it is gone. */
  activate(options: Omit<AcquireOptions, "profile">): Promise<Lease>;
  /** Not used: destroys it. */
  close(): Promise<void>;
}

/** A lease as its owner holds it. Every call checks owner, state and expiry anew. */
export interface Lease extends AsyncDisposable {
  readonly id: string;
  readonly owner: string;
  readonly profile: string;
  /** As it was at the last write of ours. For truth, `Leases.get`. */
  readonly record: LeaseRecord;
  readonly enforced: readonly HeldLimit[];
  readonly isolated: boolean;
  readonly workspace: string;
  readonly interpreter: string;
  /** Resolves when the lease is terminal or its worker is gone. Never rejects. */
  readonly ended: Promise<{ readonly reason: LeaseEndReason; readonly end: EnvironmentEnd | undefined }>;
  /** Counts as use. */
  touch(): void;
  /**
   * As of the environment (`DisposableEnvironment`), one after the other in the order of the calls. Each of these also rejects with
   * `LEASE_EXPIRED`, `LEASE_ENDED`, or `QUEUE_FULL`; `open` and `openTerminal` with `QUOTA_REACHED`.
   */
  run(argv: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  open(argv: readonly string[], options?: GuestProcessOptions): Promise<GuestProcess>;
  openTerminal(options?: { readonly signal?: AbortSignal | undefined }): Promise<TerminalChannel>;
  installPackages(wheels: readonly ApprovedWheel[], options?: InstallOptions): Promise<CommandResult>;
  requestResource(request: ResourceRequest): Promise<ResourceResponse>;
  /** New absolute expiry. `GENERATION_STALE` when `generation` is given and old; never shortens, never revives. */
  renew(options: { readonly ttlMs: number; readonly generation?: number | undefined }): Promise<LeaseRecord>;
  /** Memory in bytes and processes now; members undefined where nothing counts them. */
  usage(): { readonly memoryBytes: number | undefined; readonly processes: number | undefined };
  /** Resolves when the worker's absence was confirmed; rejects with `CLEANUP_UNCONFIRMED` when it is retried in the background. */
  release(reason?: LeaseEndReason): Promise<void>;
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
