import type { Chain } from "./chain.js";
import type { EntryInput, Receipt } from "./entry.js";
import { ChainError, isChainError } from "./errors.js";

/**
 * A log that goes on after a failed write. A chain takes nothing after one, so that no gap can arise, until it is opened
 * again: a full disk is to refuse steps while it is full, and no longer.
 */
export interface LastingChain {
  /** Rejects as `Chain.append` does, and with what opening again said. */
  append(entry: EntryInput): Promise<Receipt>;
  close(): Promise<void>;
}

export interface LastingChainOptions {
  /** Opens the same log each time. */
  readonly open: () => Promise<Pick<Chain, "append" | "close">>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Opening again reads the log back: not for each step that a full disk refuses. */
const betweenAttemptsMs = 1_000;

export async function openLastingChain({ open, now }: LastingChainOptions): Promise<LastingChain> {
  let chain: Pick<Chain, "append" | "close"> | undefined = await open();
  let attempt: { readonly opened: Promise<void>; readonly at: number } | undefined;
  let isClosed = false;

  const openAgain = async (): Promise<void> => {
    const failed = chain;
    chain = undefined;
    // What it could not keep was told to whoever waited for it.
    await failed?.close().catch(() => undefined);
    chain = await open();
  };
  const opened = (): Promise<void> => {
    if (attempt === undefined || now() - attempt.at >= betweenAttemptsMs) attempt = { opened: openAgain(), at: now() };
    return attempt.opened;
  };
  return {
    async append(entry) {
      const used = chain;
      try {
        if (used !== undefined) return await used.append(entry);
      } catch (error) {
        if (!isChainError(error) || error.code !== "CHAIN_FAILED" || isClosed) throw error;
      }
      if (chain === used) await opened();
      if (chain === undefined || isClosed) throw new ChainError("CHAIN_CLOSED", "the log was closed meanwhile");
      return chain.append(entry);
    },
    async close() {
      isClosed = true;
      await attempt?.opened.catch(() => undefined);
      await chain?.close();
    },
  };
}
