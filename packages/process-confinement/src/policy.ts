/** A folder or file of this machine that the sandbox sees. */
export interface BoundPath {
  /** Absolute path on this machine; must exist. Links in it are followed once, before the start. */
  readonly source: string;
  /** Absolute path inside. Default: `source`. */
  readonly target?: string | undefined;
  /** For one that may be written: what it may hold, watched as `diskBytes` is. Default: no bound. */
  readonly maxBytes?: number | undefined;
}

/** The one place that the sandbox may write, beside its private /tmp. */
export type Workspace =
  /** A folder of this machine. It outlives the sandbox; what is in it afterwards was written by an attacker. */
  | {
      readonly kind: "folder";
      readonly source: string;
      /** Default `/workspace`. */
      readonly target?: string | undefined;
    }
  /** A file system in memory, gone with the sandbox. Its size is held by the kernel and counts towards `memoryBytes`. */
  | {
      readonly kind: "memory";
      /** 1 MiB to 64 GiB. */
      readonly maxBytes: number;
      /** Default `/workspace`. */
      readonly target?: string | undefined;
    };

/** What may be reached. There is no "everything": a sandbox with a route reaches private networks too. */
export type NetworkPolicy =
  /** Own network namespace with an own, empty loopback. */
  | { readonly mode: "none" }
  /**
   * As `none`, and the socket of an egress proxy (`/egress`) is bound at `/run/berth/egress.sock`. Who forwards a loopback
   * port to it inside is `forwarder`: the command itself, or a helper that is started beside it.
   */
  | { readonly mode: "allowlist"; readonly socket: string; readonly forwarder?: "command" | "helper" | undefined };

/**
 * Bounds of a sandbox. One that is named is held or refused (`LIMIT_NOT_ENFORCEABLE`), never ignored; one that is left out
 * does not exist. README § Limits says which mechanism holds which, and how exactly.
 */
export interface ConfinementLimits {
  /** Memory of all processes together, page cache and memory file systems included: 16 MiB to 1 TiB. */
  readonly memoryBytes?: number | undefined;
  /** Processes and threads at once: 2 to 32_768. */
  readonly processes?: number | undefined;
  /** Processors' worth of time: 0.01 to 256. */
  readonly cpus?: number | undefined;
  /** Processor time of each process in seconds: 1 to 604_800. */
  readonly cpuSeconds?: number | undefined;
  /** Largest single file: 0 to 1 TiB. */
  readonly fileBytes?: number | undefined;
  /** Open descriptors of each process: 16 to 1_048_576. */
  readonly openFiles?: number | undefined;
  /** What a workspace of kind `folder` may hold: 1 MiB to 1 TiB. Watched, not held by the kernel: the sandbox is ended when it is over. */
  readonly diskBytes?: number | undefined;
  /** What the command may write to stdout and stderr together: 1 KiB to 1 TiB. The sandbox is ended when it is over. */
  readonly outputBytes?: number | undefined;
}

/** What a confined command may see, write, reach and use. What is not named here is not there. */
export interface ConfinementPolicy {
  /** Read-only trees and files, beside the system's (`/usr` and its links, the certificates) and the interpreter's own. */
  readonly readOnly?: readonly BoundPath[] | undefined;
  /** Default: none, and the working directory is /tmp. */
  readonly workspace?: Workspace | undefined;
  /** More places that may be written, for a host that knows why. Their content is an attacker's afterwards. */
  readonly readWrite?: readonly BoundPath[] | undefined;
  /** Size of the private /tmp in memory: 64 KiB to 64 GiB. Default 64 MiB. */
  readonly tmpBytes?: number | undefined;
  /** Default `{ mode: "none" }`. */
  readonly network?: NetworkPolicy | undefined;
  readonly limits?: ConfinementLimits | undefined;
  /**
   * For folders that are full: what is there can be read, cut short and removed, and nothing that is bound or in memory grows by
   * a byte or an entry. Writing fails with EFBIG, making with EDQUOT; README § Limits of a sandbox, `noGrowth`. Not with
   * `network: allowlist`. Default false.
   */
  readonly noGrowth?: boolean | undefined;
}
