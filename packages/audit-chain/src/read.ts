import type { Entry } from "./entry.js";

/** How to read. */
export interface ReadOptions {
  /** First sequence number to yield. Default 1. */
  readonly from?: number | undefined;
  /** After the last entry wait for more, until `signal` ends it. Default false. */
  readonly follow?: boolean | undefined;
  /** Ends the iteration with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Entries in order, each with its hash and its link to the one before checked as it is read. Safe beside a live
 * writer: only whole lines count, and no lock is taken. Holds one chunk and one line in memory.
 * @throws {ChainError} `LOG_DAMAGED` with its place, `READ_FAILED`.
 */
// biome-ignore lint/correctness/useYield: stub
export async function* readChain(
  _directory: string,
  _options: ReadOptions = {},
): AsyncGenerator<Entry, void, undefined> {
  throw new Error("not built yet");
}
