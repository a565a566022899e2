/** A destination that is allowed: a host name (exact, or `*.` and a suffix of at least two labels) and ports. */
export interface EgressRule {
  /** Lower case ASCII (punycode); no scheme, no path, no address literal. `*.suffix` does not allow the suffix itself. */
  readonly host: string;
  /** 1 to 64 of 1 to 65_535. Default: 443 and 80. */
  readonly ports?: readonly number[] | undefined;
}

/** Why a connection was not made: the first three by policy (with `REQUEST_INVALID` and `LIMIT_REACHED`: `refused`), the next two `failed`. */
export type EgressReason =
  | "HOST_NOT_ALLOWED"
  | "PORT_NOT_ALLOWED"
  | "PRIVATE_ADDRESS"
  | "RESOLUTION_FAILED"
  | "CONNECT_FAILED"
  | "REQUEST_INVALID"
  | "LIMIT_REACHED";

/** One connection that was asked for. Holds no payload: no path, no header, no credential. */
export interface EgressDecision {
  /** `unknown` when what came was none of them. */
  readonly protocol: "connect" | "http" | "socks5" | "unknown";
  /** As it was compared. Empty when none could be read; of a refused request at most 253 printable characters of what came. */
  readonly host: string;
  /** 0 when none could be read. */
  readonly port: number;
  readonly outcome: "allowed" | "refused" | "failed";
  /** Undefined when allowed. */
  readonly reason: EgressReason | undefined;
  /** The address that was connected to. */
  readonly address: string | undefined;
}

/** What an egress proxy does and is bounded by. */
export interface EgressOptions {
  /**
   * Absolute path of the unix socket to make, mode 0600, at most 107 bytes; its folder must exist, and nothing at the path.
   * One socket for each sandbox, so that decisions are its own.
   */
  readonly socket: string;
  /** 1 to 256. */
  readonly allow: readonly EgressRule[];
  /**
   * Told before the client is answered. One that throws ends that connection: what cannot be recorded is not done. There are as
   * many decisions as requests: who stores them does it through `createDecisionTally`.
   */
  readonly onDecision?: ((decision: EgressDecision) => void) | undefined;
  /** Resolves a name to addresses; every one is checked. Default: the system's resolver. */
  readonly resolve?: ((host: string, signal: AbortSignal) => Promise<readonly string[]>) | undefined;
  readonly limits?: EgressLimits | undefined;
  /** Ends the start. Later it has no effect. */
  readonly signal?: AbortSignal | undefined;
}

/** Bounds of an egress proxy. */
export interface EgressLimits {
  /** Connections at once: 1 to 4_096. Default 64. */
  readonly maxConnections?: number | undefined;
  /** Head of a request: 1 KiB to 64 KiB. Default 16 KiB. */
  readonly maxHeadBytes?: number | undefined;
  /** From connect to a whole head: 100 to 60_000 ms. Default 10_000. */
  readonly headTimeoutMs?: number | undefined;
  /** To resolve and connect: 100 to 120_000 ms. Default 15_000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Without a byte in either direction: 1_000 to 3_600_000 ms. Default 300_000. */
  readonly idleTimeoutMs?: number | undefined;
}

/** A proxy that listens. */
export interface EgressProxy extends AsyncDisposable {
  readonly socket: string;
  /** Clients that are connected now. */
  readonly connections: number;
  /** Ends every connection and removes the socket. Call as often as you like. */
  close(): Promise<void>;
}
