/** A destination that is allowed: a host name (exact, or `*.` and a suffix of at least two labels) and ports. */
export interface EgressRule {
  /** Lower case ASCII (punycode); no scheme, no path, no address literal. */
  readonly host: string;
  /** Default: 443 and 80. */
  readonly ports?: readonly number[] | undefined;
}

/** One connection that was asked for. Holds no payload. */
export interface EgressDecision {
  readonly protocol: "connect" | "http" | "socks5";
  readonly host: string;
  readonly port: number;
  readonly outcome: "allowed" | "refused" | "failed";
  /** `HOST_NOT_ALLOWED`, `PORT_NOT_ALLOWED`, `PRIVATE_ADDRESS`, `RESOLUTION_FAILED`, `CONNECT_FAILED`, `REQUEST_INVALID`, `LIMIT_REACHED`; undefined when allowed. */
  readonly reason: string | undefined;
  /** The address that was connected to. */
  readonly address: string | undefined;
}

/** What an egress proxy does and is bounded by. */
export interface EgressOptions {
  /** Path of the unix socket to make, mode 0600; its folder must exist. One socket for each sandbox, so that decisions are its own. */
  readonly socket: string;
  readonly allow: readonly EgressRule[];
  readonly onDecision?: ((decision: EgressDecision) => void) | undefined;
  /** Resolves a name to addresses; every one is checked. Default: the system's resolver. */
  readonly resolve?: ((host: string, signal: AbortSignal) => Promise<readonly string[]>) | undefined;
  readonly limits?: EgressLimits | undefined;
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
  readonly connections: number;
  /** Ends every connection and removes the socket. */
  close(): Promise<void>;
}
