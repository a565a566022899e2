import { access } from "node:fs/promises";
import { type Entry, isChainError, type LogPlace, listLogs, readChain } from "@berth/audit-chain";
import { ifAbsent } from "./catalog-file.js";

/** The logs of a state folder, oldest first; none where no gateway has written one yet. */
export async function logsIn(folder: string): Promise<readonly LogPlace[]> {
  const isThere = await access(folder).then(() => true, ifAbsent);
  return isThere === true ? listLogs(folder) : [];
}

/** The entries of a log up to its end, or to where it is damaged: that is told, and does not hide the other logs. */
export async function* readableEntries(
  { id, directory }: LogPlace,
  onDamage: (message: string) => void,
): AsyncGenerator<Entry, void, undefined> {
  try {
    yield* readChain(directory);
  } catch (error) {
    if (!isChainError(error) || (error.code !== "LOG_DAMAGED" && error.code !== "READ_FAILED")) throw error;
    onDamage(`log ${id}: ${error.message}; see berth-gateway audit verify`);
  }
}
