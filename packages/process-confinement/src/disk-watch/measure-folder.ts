import { closeSync, constants, type Dir, fstatSync, lstatSync, opendirSync, openSync, type Stats } from "node:fs";
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
  bounds: MeasureBounds,
  options: MeasureOptions = {},
): Promise<FolderUsage> {
  const { changed: _, ...usage } = await walkTree(path, bounds, options);
  return usage;
}

/** What is known before, and when to stop. */
export interface MeasureOptions {
  /** Held beside what can be found in the tree. */
  readonly alreadyBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a tree holds, and whether that is the state of one moment. */
export interface TreeUsage extends FolderUsage {
  /** Something in it changed since `sinceMs`: what was moved meanwhile may be missing. */
  readonly changed: boolean;
}

export interface WalkOptions extends MeasureOptions {
  /** By the clock of the files' own times, in milliseconds. Default: nothing counts as changed. */
  readonly sinceMs?: number | undefined;
}

/** As `measureFolder`, and tells whether the tree held still. */
export async function walkTree(path: string, bounds: MeasureBounds, options: WalkOptions): Promise<TreeUsage> {
  const { alreadyBytes = 0, sinceMs = Number.POSITIVE_INFINITY, signal } = options;
  const { maxBytes, maxEntries = 500_000, maxDepth = 128 } = bounds;
  const tally: Tally = { bytes: alreadyBytes, entries: 0, seen: new Map(), sinceMs, changed: false };
  const walk = walkFolder(Buffer.from(path), undefined, 1, tally, { maxBytes, maxEntries, maxDepth });
  const { verdict, reason } = await inSlices(walk, signal);
  return { bytes: tally.bytes, entries: tally.entries, verdict, reason, changed: tally.changed };
}

type WalkBounds = { readonly [Name in keyof MeasureBounds]-?: number };

interface Tally {
  bytes: number;
  entries: number;
  /** Inodes of each device: a file with several names, or one that is moved before the walk, counts once. */
  readonly seen: Map<number, Set<number>>;
  readonly sinceMs: number;
  changed: boolean;
}

type Finding = Pick<FolderUsage, "verdict" | "reason">;
const within: Finding = { verdict: "within", reason: undefined };
const over = (reason: string): Finding => ({ verdict: "over", reason });
const unseen = (cause: unknown): Finding => ({
  verdict: "unseen",
  reason: `a folder cannot be read (${codeOf(cause)})`,
});

/** A folder that is still to be walked, and which one it was. */
interface Below {
  readonly name: string;
  readonly inode: number;
}

/** Depth first; stops for the caller between slices, and for good at the first finding that is not `within`. */
function* walkFolder(
  path: Buffer,
  inode: number | undefined,
  depth: number,
  tally: Tally,
  bounds: WalkBounds,
): Generator<void, Finding> {
  if (depth > bounds.maxDepth) return over(`folders are nested deeper than ${bounds.maxDepth}`);
  let folder: number;
  try {
    folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (cause) {
    if (depth === 1 || !wasSwapped(cause)) return unseen(cause);
    tally.changed = true;
    return within;
  }
  try {
    const folders: Below[] = [];
    const found = yield* countEntries(folder, folders, tally, bounds);
    // Looked at when all of it was listed: whatever left or came until then shows.
    const stat = fstatSync(folder);
    noteChange(stat, tally);
    if (inode !== undefined && stat.ino !== inode) tally.changed = true;
    if (found.verdict !== "within") return found;
    for (const { name, inode } of folders) {
      const finding = yield* walkFolder(below(folder, name), inode, depth + 1, tally, bounds);
      if (finding.verdict !== "within") return finding;
    }
    return within;
  } finally {
    closeSync(folder);
  }
}

function* countEntries(folder: number, folders: Below[], tally: Tally, bounds: WalkBounds): Generator<void, Finding> {
  let listing: Dir | undefined;
  try {
    listing = opendirSync(`/proc/self/fd/${folder}`, { encoding: "latin1", bufferSize: sliceEntries });
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
      const stat = countEntry(below(folder, entry.name), tally);
      if (stat?.isDirectory()) folders.push({ name: entry.name, inode: stat.ino });
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

/** Undefined when it is gone again: it counts nothing. */
function countEntry(path: Buffer, tally: Tally): Stats | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  tally.entries++;
  if (stat === undefined) {
    tally.changed = true;
    return undefined;
  }
  noteChange(stat, tally);
  if (isFirstSight(stat, tally)) tally.bytes += entryBytes + stat.blocks * blockBytes;
  return stat;
}

// No program can set this time, and everything sets it: writing, cutting, cloning, linking, moving. A folder that was moved is
// walked all the same when it is met again, since it may not have been walked at its old place.
function noteChange({ ctimeMs }: Stats, tally: Tally): void {
  if (ctimeMs >= tally.sinceMs) tally.changed = true;
}

function isFirstSight({ dev, ino }: Stats, { seen }: Tally): boolean {
  const inodes = seen.get(dev) ?? new Set();
  if (inodes.has(ino)) return false;
  seen.set(dev, inodes.add(ino));
  return true;
}

// Since it was listed it was removed, or something that is no folder took its place.
function wasSwapped(cause: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP"].includes(codeOf(cause));
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
}
