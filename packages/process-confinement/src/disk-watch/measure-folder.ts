import { closeSync, constants, type Dir, lstatSync, opendirSync, openSync } from "node:fs";
import { inSlices, sliceEntries } from "./slices.js";

/** What ends a measurement early; each is for a tree that an attacker made. */
export interface MeasureBounds {
  /** Once it is known to hold more, the rest is of no interest. */
  readonly maxBytes: number;
  /** Default 500_000, as the watch of a sandbox has it. */
  readonly maxEntries?: number | undefined;
  /** Folders in folders: each level holds a descriptor while it is walked. Default 128, as the watch has it. */
  readonly maxDepth?: number | undefined;
}

/** What a tree holds. */
export interface FolderUsage {
  /** Blocks on the disk, and a share for each entry; of `over` only what was counted until it was clear. */
  readonly bytes: number;
  readonly entries: number;
  /** `unseen`: a part of it could not be looked at, so that nothing is known. */
  readonly verdict: "within" | "over" | "unseen";
  /** Why it is not `within`, one sentence; never a name from the tree. */
  readonly reason: string | undefined;
}

/** For the inode and the name: a million empty files are not nothing. */
const entryBytes = 512;
/** Unit of st_blocks, whatever that of the file system (stat(2)). */
const blockBytes = 512;

/**
 * Counts what a folder holds while an attacker changes it, as the watch of a sandbox counts. The path itself is no link; none
 * below it is followed: each folder is opened by its name below the descriptor of the one above (`/proc/self/fd/N/name` is
 * openat(2)), so that one which is swapped for a link is left out. Linux. Rejects with the signal's reason alone.
 */
export async function measureFolder(
  path: string,
  { maxBytes, maxEntries = 500_000, maxDepth = 128 }: MeasureBounds,
  options: MeasureOptions = {},
): Promise<FolderUsage> {
  const bounds = { maxBytes, maxEntries, maxDepth };
  const tally: Tally = { bytes: options.alreadyBytes ?? 0, entries: 0, linked: new Set() };
  const walk = walkFolder(Buffer.from(path), 1, tally, bounds);
  const { verdict, reason } = await inSlices(walk, options.signal);
  return { bytes: tally.bytes, entries: tally.entries, verdict, reason };
}

/** What is known before, and when to stop. */
export interface MeasureOptions {
  /** Held beside what can be found in the tree. */
  readonly alreadyBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

type WalkBounds = { readonly [Name in keyof MeasureBounds]-?: number };

interface Tally {
  bytes: number;
  entries: number;
  /** Files with several names: each counts once. */
  readonly linked: Set<string>;
}

type Finding = Pick<FolderUsage, "verdict" | "reason">;
const within: Finding = { verdict: "within", reason: undefined };
const over = (reason: string): Finding => ({ verdict: "over", reason });
const unseen = (cause: unknown): Finding => ({
  verdict: "unseen",
  reason: `a folder cannot be read (${codeOf(cause)})`,
});

/** Depth first; stops for the caller between slices, and for good at the first finding that is not `within`. */
function* walkFolder(path: Buffer, depth: number, tally: Tally, bounds: WalkBounds): Generator<void, Finding> {
  if (depth > bounds.maxDepth) return over(`folders are nested deeper than ${bounds.maxDepth}`);
  let folder: number;
  try {
    folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (cause) {
    return depth > 1 && wasSwapped(cause) ? within : unseen(cause);
  }
  try {
    const folders: string[] = [];
    const found = yield* countEntries(folder, folders, tally, bounds);
    if (found.verdict !== "within") return found;
    for (const name of folders) {
      const finding = yield* walkFolder(below(folder, name), depth + 1, tally, bounds);
      if (finding.verdict !== "within") return finding;
    }
    return within;
  } finally {
    closeSync(folder);
  }
}

function* countEntries(folder: number, folders: string[], tally: Tally, bounds: WalkBounds): Generator<void, Finding> {
  let listing: Dir | undefined;
  try {
    listing = opendirSync(`/proc/self/fd/${folder}`, { encoding: "latin1", bufferSize: sliceEntries });
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
      if (countEntry(below(folder, entry.name), tally)) folders.push(entry.name);
      if (isOver(tally, bounds)) break;
      if (tally.entries % sliceEntries === 0) yield;
    }
    return judge(tally, bounds);
  } catch (cause) {
    return unseen(cause);
  } finally {
    listing?.closeSync();
  }
}

function isOver({ bytes, entries }: Tally, { maxBytes, maxEntries }: WalkBounds): boolean {
  return bytes > maxBytes || entries > maxEntries;
}

function judge(tally: Tally, bounds: WalkBounds): Finding {
  if (!isOver(tally, bounds)) return within;
  if (tally.bytes > bounds.maxBytes) return over(`it holds more than ${bounds.maxBytes} bytes`);
  return over(`it has more than ${bounds.maxEntries} entries`);
}

// latin1 keeps every byte of a name: one that is no UTF-8 would otherwise hide its file.
function below(folder: number, name: string): Buffer {
  return Buffer.from(`/proc/self/fd/${folder}/${name}`, "latin1");
}

/** Whether it is a folder. One that is gone again counts nothing. */
function countEntry(path: Buffer, tally: Tally): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  tally.entries++;
  if (stat === undefined) return false;
  const isFolder = stat.isDirectory();
  if (!isFolder && stat.nlink > 1) {
    const inode = `${stat.dev}:${stat.ino}`;
    if (tally.linked.has(inode)) return false;
    tally.linked.add(inode);
  }
  tally.bytes += entryBytes + stat.blocks * blockBytes;
  return isFolder;
}

// Since it was listed it was removed, or something that is no folder took its place.
function wasSwapped(cause: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP"].includes(codeOf(cause));
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
}
