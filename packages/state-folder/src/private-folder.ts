import { chmod, readdir, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { StateError } from "./errors.js";
import { tryReadFormat, writeFormat } from "./format-file.js";
import { type FolderLayout, refuseOtherKinds } from "./layout.js";
import { makeFolder } from "./make-folder.js";

/**
 * Opens a state folder and gives its absolute path. It is made (0700) when it is absent, and becomes one when it is empty.
 * Many processes may do so at once.
 * @throws {StateError} `STATE_UNUSABLE` for a folder that is something else, another user's or open to others' writes, or
 * that holds something else in a place of `layout`; `STATE_NEWER`.
 */
export async function openPrivateFolder(given: string, layout: FolderLayout): Promise<string> {
  const path = resolve(given);
  await makeFolder(path).catch((cause: unknown) => notMade(path, cause));
  const format = await tryReadFormat(path, layout.format);
  // In this order: whoever claims a folder closes it before the format can be read.
  const found = await stat(path);
  if (process.getuid !== undefined && found.uid !== process.getuid()) {
    throw new StateError("STATE_UNUSABLE", `the state folder ${path} belongs to another user`);
  }
  if (format === undefined) await claim(path, found.mode, layout.format);
  else {
    refuseNewer(path, format, layout.format);
    await closeToOthers(path, found.mode, layout.trusted);
  }
  await refuseOtherKinds(path, layout);
  return path;
}

/**
 * The absolute path of a state folder that must exist already, for commands that only read. Nothing is changed.
 * @throws {StateError} `STATE_UNUSABLE` where none is; `STATE_NEWER`.
 */
export async function findPrivateFolder(given: string, layout: Pick<FolderLayout, "format">): Promise<string> {
  const path = resolve(given);
  const format = await tryReadFormat(path, layout.format);
  if (format === undefined) throw new StateError("STATE_UNUSABLE", `${path} is no state folder`);
  refuseNewer(path, format, layout.format);
  return path;
}

function refuseNewer(path: string, format: number, known: number): void {
  if (format <= known) return;
  throw new StateError("STATE_NEWER", `${path} has state format ${format}; this program knows ${known}`);
}

/** Makes a folder ours. One with other people's files in it is never taken, since it would be closed to them. */
async function claim(path: string, mode: number, format: number): Promise<void> {
  const held = await readdir(path);
  if (held.length > 0 && (mode & 0o077) !== 0) {
    const advice = "give a new or empty one, or close it to others with chmod 700";
    throw new StateError("STATE_UNUSABLE", `${path} is not a state folder and not empty: ${advice}`);
  }
  if ((mode & 0o077) !== 0) await chmod(path, 0o700);
  await writeFormat(path, format).catch((cause: unknown) => notMade(path, cause));
}

function notMade(path: string, cause: unknown): never {
  throw new StateError("STATE_UNUSABLE", `the state folder ${path} cannot be made`, { cause });
}

/** State decides what may run and what is ended, so a folder into which others could write is not believed. */
async function closeToOthers(path: string, mode: number, trusted: string | undefined): Promise<void> {
  if ((mode & 0o022) !== 0) {
    const first = trusted === undefined ? "" : ` ${trusted} first,`;
    const advice = `look at what it holds,${first} then close it with chmod 700`;
    throw new StateError("STATE_UNUSABLE", `others may write into the state folder ${path}: ${advice}`);
  }
  if ((mode & 0o077) !== 0) await chmod(path, 0o700);
}
