import type { ConfinementLimits } from "./policy.js";

/** One thing that was tried on this machine. */
export interface EnforcementFinding {
  /**
   * Stable name: `bubblewrap`, `user-namespace`, `pid-namespace`, `net-namespace`, `ipc-namespace`, `uts-namespace`,
   * `cgroup-namespace`, `secret`, `network`, `abstract-socket`, `own-write`, `read-only`, `seccomp`, `privileges`,
   * `descriptors`, `host-death`, `interpreter`, or a limit's name.
   */
  readonly aspect: string;
  readonly holds: boolean;
  /** By which mechanism; undefined when it does not hold. */
  readonly by?: string | undefined;
  /** What was seen, one sentence. */
  readonly seen: string;
  /** Why it does not hold and what to do, one sentence each; undefined when it holds. */
  readonly cause?: string | undefined;
  readonly cure?: string | undefined;
}

/** What this machine really enforces, found by trying. */
export interface EnforcementReport {
  /** Sandboxes can be opened: everything but single limits holds. */
  readonly usable: boolean;
  /** The version that `bwrap --version` tells; undefined without it. */
  readonly bubblewrap: string | undefined;
  /** Limits that were tried and can be held here. */
  readonly limits: readonly (keyof ConfinementLimits)[];
  readonly findings: readonly EnforcementFinding[];
}

/** What `probe` tries beside its own canaries. */
export interface ProbeOptions {
  /** Limits that are tried; of the others nothing is told. Default: all. */
  readonly limits?: readonly (keyof ConfinementLimits)[] | undefined;
  /** Absolute path of an interpreter that must start inside with the version and prefix that it has outside. */
  readonly interpreter?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}
