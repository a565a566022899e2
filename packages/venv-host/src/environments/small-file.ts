import { constants } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { systemCode } from "./system-fault.js";

/** Reads a regular file of at most so many bytes. Undefined for another kind, and for a longer one. Throws the system's error. */
export async function readSmallFile(path: string, maxBytes: number): Promise<Buffer | undefined> {
  // Not blocking: a pipe in the place of a file would wait for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if (systemCode(error) === "ENXIO") return undefined; // a socket
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    return await readUpTo(file, stats.size, maxBytes);
  } finally {
    await file.close();
  }
}

/** One byte more than it should have tells whether it grew; then room for twice as much is made. */
async function readUpTo(file: FileHandle, size: number, maxBytes: number): Promise<Buffer | undefined> {
  let buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    length += bytesRead;
    if (length > maxBytes) return undefined;
    if (bytesRead === 0) return buffer.subarray(0, length);
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(length * 2, maxBytes + 1));
  }
}

/** Writes a file under another name and then gives it its own, so that nobody ever reads half of it. */
export async function replaceFile(path: string, draft: string, content: string | Uint8Array): Promise<void> {
  await writeSynced(draft, content);
  await rename(draft, path);
}

/** Writes a new file, and waits until the disk has it. */
export async function writeSynced(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Waits until the disk has the names in a folder. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
