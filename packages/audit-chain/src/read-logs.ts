import { access } from "node:fs/promises";
import type { Entry } from "./entry.js";
import { isChainError } from "./errors.js";
import { type LogPlace, listLogs } from "./log-list.js";
import { readChain } from "./read.js";

/** An entry, and the log that has it. */
export interface LoggedEntry {
  /** The log's id. */
  readonly log: string;
  readonly entry: Entry;
}

/** What `readLogs` and `readToDamage` accept. */
export interface ReadLogsOptions {
  /** Told of a log that is damaged or cannot be read to its end: one sentence. `verifyLogs` says more. */
  readonly onDamage?: ((message: string, log: LogPlace) => void) | undefined;
}

/**
 * Every entry of a folder's logs, log after log, oldest log first; none where the folder is not there yet. Damage ends its log only.
 * @throws {ChainError} `READ_FAILED` of the folder itself, and what is none of damage.
 */
export async function* readLogs(
  folder: string,
  options: ReadLogsOptions = {},
): AsyncGenerator<LoggedEntry, void, undefined> {
  if (!(await isThere(folder))) return;
  for (const place of await listLogs(folder)) {
    for await (const entry of readToDamage(place, options)) yield { log: place.id, entry };
  }
}

/** The entries of one log up to its end, or to where it is damaged. */
export async function* readToDamage(
  place: LogPlace,
  { onDamage }: ReadLogsOptions = {},
): AsyncGenerator<Entry, void, undefined> {
  try {
    yield* readChain(place.directory);
  } catch (error) {
    if (!isChainError(error) || (error.code !== "LOG_DAMAGED" && error.code !== "READ_FAILED")) throw error;
    onDamage?.(`log ${place.id}: ${error.message}`, place);
  }
}

function isThere(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT", // any other is told by the list
  );
}
