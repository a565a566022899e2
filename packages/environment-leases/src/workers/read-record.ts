import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const maxRecordBytes = 65_536;

/**
 * Reads a record that an earlier process wrote down. Undefined when there is none, null when what is there is no record: a
 * damaged one must neither hold up nor fill the process that looks at it, as a named pipe or an endless file would.
 */
export async function readRecord(path: string): Promise<unknown> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return isAbsent(error) ? undefined : null;
  }
  try {
    return parse(await readBounded(file));
  } finally {
    await file.close();
  }
}

async function readBounded(file: FileHandle): Promise<string | undefined> {
  const seen = await file.stat();
  if (!seen.isFile() || seen.size > maxRecordBytes) return undefined;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxRecordBytes), 0, maxRecordBytes, 0);
  return buffer.toString("utf8", 0, bytesRead);
}

function parse(text: string | undefined): unknown {
  if (text === undefined) return null;
  // It gets its name when it is whole: only a crash of the machine empties it afterwards, and no worker outlives that.
  if (/^\0*$/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return null;
  }
}

/** Also when its folder is no folder: we never wrote a record into that. */
function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
