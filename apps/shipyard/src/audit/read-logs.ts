import { existsSync } from "node:fs";
import { type Entry, isChainError, listLogs, readChain } from "@berth/audit-chain";

/** An entry, and the log that has it. */
export interface LoggedEntry {
  readonly log: string;
  readonly entry: Entry;
}

/** Every entry of a folder's logs, log after log, oldest log first. Damage ends its log only, and is told. */
export async function* readLogs(
  folder: string,
  onDamage: (message: string) => void,
): AsyncGenerator<LoggedEntry, void, undefined> {
  if (!existsSync(folder)) return; // nobody has served from here yet
  for (const { id, directory } of await listLogs(folder)) {
    try {
      for await (const entry of readChain(directory)) yield { log: id, entry };
    } catch (error) {
      if (!isChainError(error) || (error.code !== "LOG_DAMAGED" && error.code !== "READ_FAILED")) throw error;
      onDamage(`log ${id}: ${error.message}; see berth-shipyard audit verify`);
    }
  }
}
