import type { ConfinementLimits } from "../policy.js";

/** A folder or file of this machine, found and resolved. */
export interface BoundTerms {
  /** The member of the policy that asked for it. */
  readonly field: string;
  /** Real path on this machine. */
  readonly source: string;
  readonly target: string;
  readonly access: "read" | "write";
  readonly maxBytes: number | undefined;
}

/** A policy with defaults filled in and sources resolved; the only form that internal code sees. */
export interface PolicyTerms {
  readonly binds: readonly BoundTerms[];
  readonly workspace: WorkspaceTerms | undefined;
  readonly tmpBytes: number;
  readonly egress: ProxyTerms | undefined;
  /** With `fileBytes: 0` when nothing may grow. */
  readonly limits: ConfinementLimits;
  readonly noGrowth: boolean;
}

/** A workspace that is a folder lies among `binds`. */
export interface WorkspaceTerms {
  readonly target: string;
  /** Of a memory file system; undefined for a folder. */
  readonly memoryBytes: number | undefined;
  /** Of a folder; undefined for a memory file system. */
  readonly folder: string | undefined;
}

/** How the egress proxy is reached. */
export interface ProxyTerms {
  /** Real path of the proxy's socket. */
  readonly socket: string;
  readonly forwarder: "command" | "helper";
}
