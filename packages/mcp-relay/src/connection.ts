import type { Transport } from "@berth/stdio-transport";

/** How strongly it is known what code answers. Classes are never merged. */
export type EvidenceClass = "spawn-measured" | "spawn-unmeasured" | "tls-pinned" | "hash-only";

/** What is known of the code behind a connection; copied into each event about it. */
export interface UpstreamEvidence {
  readonly evidence: EvidenceClass;
  readonly digest?: string | undefined;
  readonly guard?: string | undefined;
  readonly coverage?: string | undefined;
}

/** How a child ended. */
export interface ExitReport {
  readonly code: number | null;
  readonly signal: string | null;
}

/** One started server, as the host of the relay hands it over. The relay owns it from then on, and closes it. */
export interface UpstreamConnection {
  /** Not started yet. Frames are bounded by it (`maxFrameBytes`, `oversize: "skip"` so that one large answer does not cost the rest). */
  readonly transport: Transport;
  readonly evidence: UpstreamEvidence;
  /**
   * Called once, after the child's `initialize` answer and before any call reaches it. Rejects like `openUpstream` when what runs is no
   * longer what was measured.
   */
  recheck?(): Promise<void>;
  /** Settles when the child is gone; never rejects. */
  readonly exited: Promise<ExitReport>;
  /** Bytes that the child wrote to stderr so far. The text itself never comes here. */
  stderrBytes?(): number;
  /** Ends the child in stages. May be called again. */
  close(): Promise<void>;
}

/**
 * Measures, decides and starts a server for this session. Called at the first use and again after each loss of the child.
 * A rejection that has a string `reason` (see `UpstreamRefusal`) is a refusal and reaches the client as -31100; any other is `START_FAILED`.
 */
export type OpenUpstream = (server: string, options: { readonly signal: AbortSignal }) => Promise<UpstreamConnection>;

/** Shape of an error by which `openUpstream` or `recheck` refuses. Its `message` reaches the client: no secrets, and the way out named. */
export interface UpstreamRefusal extends Error {
  /** Stable code, such as `DIGEST_MISMATCH`. */
  readonly reason: string;
  /** What to do, appended to the message when it is not part of it. */
  readonly advice?: string | undefined;
  readonly target?: string | undefined;
  readonly expected?: string | undefined;
  readonly measured?: string | undefined;
}
