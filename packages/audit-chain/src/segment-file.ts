import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  openSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ChainError } from "./errors.js";

/** The file that a chain appends to. */
export interface SegmentFile {
  readonly name: string;
  /** In bytes, as far as it was written by `write` or found at `reopen`. */
  readonly size: number;
  /** Writes all of the bytes, or throws the system's error; then what was written of them is taken back where it can be. */
  write(bytes: Uint8Array): void;
  /** Resolves when what is written so far is on stable storage. */
  sync(): Promise<void>;
  /** The same, at once. */
  syncNow(): void;
  /** Closes the file once a running sync is done. */
  close(): Promise<void>;
}

/** Opens segment files for appending. */
export interface SegmentFiles {
  /** A new file; an existing one of that name is an error. */
  create(name: string): SegmentFile;
  /** An existing file, at its end. */
  reopen(name: string): SegmentFile;
  /** Cuts a file off at `size`, on stable storage; one that would be empty is removed. */
  cut(name: string, size: number): void;
}

const datasync = promisify(fdatasync);
const fullSync = promisify(fsync);

/** Writes some of the bytes from `offset` on, and answers how many; throws the system's error. */
export type WriteCall = (descriptor: number, bytes: Uint8Array, offset: number) => number;

/** Segment files in a folder. */
export function segmentFilesIn(directory: string, write: WriteCall = writeSync): SegmentFiles {
  return {
    create: (name) => {
      const flags = appending | constants.O_CREAT | constants.O_EXCL;
      const descriptor = openSync(join(directory, name), flags, 0o600);
      return segmentFile({ descriptor, name, directory, write }, 0);
    },
    reopen: (name) => {
      const { descriptor, size } = openExisting(join(directory, name));
      return segmentFile({ descriptor, name, directory, write }, size);
    },
    cut: (name, size) => cutFile(join(directory, name), size),
  };
}

const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;

function openExisting(path: string): { readonly descriptor: number; readonly size: number } {
  const descriptor = openSync(path, appending);
  const { size, nlink } = fstatSync(descriptor);
  if (nlink === 1) return { descriptor, size };
  closeSync(descriptor);
  // A backup made of hard links would change with the log; and someone else's file could be given the log's name.
  throw new ChainError(
    "OPEN_FAILED",
    `the segment ${path} has ${nlink} names (hard links); copy it, so that it has one`,
  );
}

function cutFile(path: string, size: number): void {
  const { descriptor } = openExisting(path);
  try {
    ftruncateSync(descriptor, size);
    fdatasyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  if (size === 0) unlinkSync(path);
}

interface OpenSegment {
  readonly descriptor: number;
  readonly name: string;
  readonly directory: string;
  readonly write: WriteCall;
}

function segmentFile({ descriptor, name, directory, write }: OpenSegment, startSize: number): SegmentFile {
  let size = startSize;
  // A new file is found after a crash only when its folder was synced as well, and that folder in its own.
  let folderDue = startSize === 0;
  // Windows has no such sync.
  const folders = process.platform === "win32" ? [] : [directory, dirname(directory)];
  let running: Promise<void> = Promise.resolve();
  let closing: Promise<void> | undefined;

  const syncAll = async (): Promise<void> => {
    await datasync(descriptor);
    if (folderDue) for (const path of folders) await syncFolder(path);
    folderDue = false;
  };
  const close = async (): Promise<void> => {
    await running.catch(() => {}); // its caller has the error; closing before it ends could hit another file's number
    closeSync(descriptor);
  };
  return {
    name,
    get size() {
      return size;
    },
    write: (bytes) => {
      try {
        writeAll(write, descriptor, bytes);
        size += bytes.length;
      } catch (error) {
        takeBack(descriptor, size);
        throw error;
      }
    },
    sync: () => {
      running = syncAll();
      return running;
    },
    syncNow: () => {
      fdatasyncSync(descriptor);
      if (folderDue) for (const path of folders) syncFolderNow(path);
      folderDue = false;
    },
    close: () => (closing ??= close()),
  };
}

function writeAll(write: WriteCall, descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const count = write(descriptor, bytes, done);
    // Asked again and again, a file system that takes nothing would hold up the process for ever.
    if (count === 0) throw new Error(`the system took ${done} of ${bytes.length} bytes and no more`);
    done += count;
  }
}

function takeBack(descriptor: number, size: number): void {
  try {
    ftruncateSync(descriptor, size);
  } catch {
    // What is left is a torn record, or a whole one whose append was rejected; the chain is failed either way.
  }
}

async function syncFolder(path: string): Promise<void> {
  const descriptor = openSync(path, constants.O_RDONLY);
  try {
    await fullSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function syncFolderNow(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
