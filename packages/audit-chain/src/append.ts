import type { Chain, ChainOptions } from "./chain.js";

/**
 * Opens a log for writing, or begins one. Reads back what is there: a torn last record is cut off, any other damage
 * is refused. There is one writer at a time; a second gets `LOCKED`, which names the owner.
 * @throws {ChainError} `OPTIONS_INVALID`, `LOCKED`, `LOG_DAMAGED` with its place, `LOG_ID_MISMATCH`, `OPEN_FAILED`.
 */
export async function openChain(_options: ChainOptions): Promise<Chain> {
  throw new Error("not built yet");
}
