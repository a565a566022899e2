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
  readonly environment: Pick<Lease, "open" | "restriction" | "workspace" | "interpreter" | "ended">;
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
  /** As of the environment: why it can do less than its profile says. */
  readonly restriction?: string | undefined;
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
