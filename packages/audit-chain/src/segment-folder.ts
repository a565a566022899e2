import { closeSync, read } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { firstSequenceOf } from "./begin.js";
import type { SegmentSource } from "./check.js";
import { ChainError } from "./errors.js";
import { openRegularFile } from "./regular-file.js";

const chunkBytes = 256 * 1024;
const readInto = promisify(read);

/**
 * Names of a log's segments, in order.
 * @throws {ChainError} `READ_FAILED`.
 */
export async function segmentNames(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch((cause: unknown) => {
    throw new ChainError("READ_FAILED", `the folder ${directory} cannot be read`, { cause });
  });
  return names.filter((name) => firstSequenceOf(name) !== undefined).sort();
}

/** A segment of a folder. */
export interface FolderSource extends SegmentSource {
  /** The system's error, when that is why the bytes cannot be read. */
  readonly cause?: unknown;
}

/** Some segments of a folder, each opened when it is its turn and closed when the next one is. */
export async function* segmentSources(
  directory: string,
  names: readonly string[],
): AsyncGenerator<FolderSource, void, undefined> {
  for (const name of names) {
    const opened = openRegularFile(join(directory, name));
    if ("refused" in opened) {
      yield { name, chunks: [], ...opened };
      continue;
    }
    try {
      yield { name, chunks: readChunks(opened.descriptor) };
    } finally {
      closeSync(opened.descriptor);
    }
  }
}

/**
 * Bytes of an open file from `position`, which begins a line, to its end as it is met. A chunk ends at a line feed
 * where it can, so that each begins where a line does: a writer that comes back to a torn line and writes another in
 * its place is then never seen half before and half after. A chunk is good until the next one is asked for.
 * @throws {ChainError} `READ_FAILED`.
 */
export async function* readChunks(descriptor: number, position = 0): AsyncGenerator<Uint8Array, void, undefined> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let at = position;
  for (;;) {
    const { bytesRead } = await readInto(descriptor, buffer, 0, chunkBytes, at).catch((cause: unknown) => {
      throw new ChainError("READ_FAILED", "a segment cannot be read", { cause });
    });
    const whole = buffer.subarray(0, bytesRead).lastIndexOf("\n") + 1;
    const length = whole === 0 ? bytesRead : whole;
    if (length > 0) yield buffer.subarray(0, length);
    if (whole === 0 && bytesRead < chunkBytes) return;
    at += length;
  }
}
