import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { StateError } from "./errors.js";
import { replaceFile } from "./replace-file.js";

const formatFile = "format.json";
const maxFormatBytes = 100;

/** Marks a folder as ours, and of this format. */
export async function writeFormat(folder: string, format: number): Promise<void> {
  await replaceFile(join(folder, formatFile), `{"format":${format}}\n`);
}

/** Undefined for a folder without one: it is no state folder yet. */
export async function tryReadFormat(folder: string, known: number): Promise<number | undefined> {
  const place = join(folder, formatFile);
  const text = await tryReadShort(place);
  if (text === undefined) return undefined;
  const format = Number(/^\{"format":(\d+)\}\s*$/u.exec(text)?.[1]);
  if (Number.isInteger(format)) return format;
  throw new StateError("STATE_UNUSABLE", `${place} is damaged: it should be {"format":${known}}`);
}

/** Undefined for one that is absent; empty for what is no format, such as a named pipe, which would hold us up for ever. */
async function tryReadShort(path: string): Promise<string | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const seen = await file.stat();
    return seen.isFile() && seen.size <= maxFormatBytes ? await file.readFile("utf8") : "";
  } finally {
    await file.close();
  }
}
