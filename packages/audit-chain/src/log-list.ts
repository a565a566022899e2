import { closeSync, readSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { firstSequenceOf, isBeginRecord, isLogId } from "./begin.js";
import { ChainError } from "./errors.js";
import { readLine } from "./line.js";
import { lockNumberOf } from "./lock-folder.js";
import { openRegularFile } from "./regular-file.js";

/** One log of a folder that holds many. */
export interface LogPlace {
  /** Name of its folder, which is also the id that its segments must bear. */
  readonly id: string;
  readonly directory: string;
  /** When it was begun, as its first segment says; null where that cannot be read. */
  readonly begun: string | null;
}

/**
 * The logs in a folder, oldest first. A log is a folder with segments or with a lock; the rest is passed over.
 * @throws {ChainError} `READ_FAILED`.
 */
export async function listLogs(folder: string): Promise<readonly LogPlace[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new ChainError("READ_FAILED", `the folder ${folder} cannot be read`, { cause });
  });
  const logs: LogPlace[] = [];
  for (const id of names.filter(isLogId)) {
    const log = await readPlace(id, join(folder, id));
    if (log !== undefined) logs.push(log);
  }
  return logs.sort((a, b) => compare(a.begun ?? "", b.begun ?? "") || compare(a.id, b.id));
}

async function readPlace(id: string, directory: string): Promise<LogPlace | undefined> {
  const names = await readdir(directory).catch(() => undefined); // a file, or nothing to read: not a log
  const segments = names?.filter((name) => firstSequenceOf(name) !== undefined).sort();
  const [first] = segments ?? [];
  if (first !== undefined) return { id, directory, begun: beginningOf(join(directory, first)) };
  return names?.some((name) => lockNumberOf(name) !== undefined) === true ? { id, directory, begun: null } : undefined;
}

// The members of a beginning have limits that keep its line well below this.
const beginningBytes = 1_024;

/** The time in a segment's first line. Nothing is checked here: a listing is no verification. */
function beginningOf(path: string): string | null {
  const opened = openRegularFile(path);
  if ("refused" in opened) return null;
  try {
    const buffer = Buffer.alloc(beginningBytes);
    const start = buffer.subarray(0, readSync(opened.descriptor, buffer, 0, beginningBytes, 0));
    const body = readLine(start.subarray(0, Math.max(0, start.indexOf("\n"))))?.body;
    const record: unknown = body === undefined ? undefined : JSON.parse(Buffer.from(body).toString());
    return isBeginRecord(record) ? record.time : null;
  } catch {
    return null; // unreadable or not JSON; verification says more
  } finally {
    closeSync(opened.descriptor);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
