import type { VerifyReport } from "./report.js";

export type { Head } from "./entry.js";
export type { Finding, Notice, NoticeCode, Problem, ProblemCode, VerifyReport } from "./report.js";

/** One segment's bytes, in order. */
export interface SegmentSource {
  /** Shown in findings. A name of 16 digits and `.jsonl` must be the sequence number that the segment begins with. */
  readonly name: string;
  /** The bytes, cut anywhere. */
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Why the bytes must not be read; they are then not. */
  readonly refused?: string | undefined;
}

/** What `verifyChain` takes. */
export interface VerifyOptions {
  /** The segments in order; each is read to its end before the next. */
  readonly segments: AsyncIterable<SegmentSource> | Iterable<SegmentSource>;
  /** SHA-256, such as one over `crypto.subtle.digest`. */
  sha256(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Re-check canonical form (RFC 8785), which also finds duplicate keys. Default false. */
  readonly strict?: boolean | undefined;
  /** The id that the log must bear; absent: any, the same throughout. */
  readonly logId?: string | undefined;
  /** Whether the first segment may be a later one, as when one file is checked alone. Default false. */
  readonly partial?: boolean | undefined;
  /** Problems and notices to list, each: 1 to 10,000. Default 100. The counts go on. */
  readonly maxFindings?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Checks a log: form, hashes, links, sequence, times, session brackets and unmatched intents. Streams; holds one line
 * (at most 65,619 bytes), one chunk, and at most 100,000 open sessions and intents each.
 * It trusts no length, needs nothing of Node, and never throws over what the log contains.
 *
 * A log that ends early at a whole line is whole to it: compare `head` with one that you kept elsewhere.
 */
export async function verifyChain(_options: VerifyOptions): Promise<VerifyReport> {
  throw new Error("not built yet");
}
