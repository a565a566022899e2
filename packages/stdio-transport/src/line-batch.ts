import type { Writable } from "node:stream";

interface Line {
  readonly frame: Uint8Array;
}

/** One write takes frames up to this sum, so that what an abort cannot take back stays small. */
const maxBatchBytes = 262_144;
/** Up to this size a frame is copied into one buffer with its neighbours; above, the copy costs more than a second part. */
const maxCopiedBytes = 16_384;
const lineFeed = 0x0a;
const terminator = Uint8Array.of(lineFeed);

/** Size of frames with their line feeds. */
export function lineBytes(lines: readonly Line[]): number {
  let size = 0;
  for (const { frame } of lines) size += frame.length + 1;
  return size;
}

/** How many of the first frames leave in one write: at least one. */
export function lineBatch(lines: readonly Line[]): number {
  let bytes = 0;
  for (let count = 0; count < lines.length; count++) {
    bytes += (lines[count]?.frame.length ?? 0) + 1;
    if (bytes > maxBatchBytes && count > 0) return count;
  }
  return lines.length;
}

/** Writes frames, each with its line feed, as one system call where the stream can. `done` is called once, for all. */
export function writeLines(
  writable: Writable,
  lines: readonly Line[],
  done: (error: Error | null | undefined) => void,
): void {
  if (lines.every(isSmall)) {
    writable.write(joined(lines), done);
    return;
  }
  const parts = joinNeighbours(lines);
  const last = parts.length - 1;
  writable.cork();
  // A stream calls back each part of a write that failed, or the last one when all went well.
  for (let index = 0; index < last; index++) writable.write(parts[index]);
  writable.write(parts[last], done);
  writable.uncork();
}

function isSmall({ frame }: Line): boolean {
  return frame.length <= maxCopiedBytes;
}

/** Small frames that follow each other become one part; a large one stays as it is, with its line feed as the next part. */
function joinNeighbours(lines: readonly Line[]): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  let run: Line[] = [];
  const endRun = (): void => {
    if (run.length > 0) parts.push(joined(run));
    run = [];
  };
  for (const line of lines) {
    if (isSmall(line)) {
      run.push(line);
    } else {
      endRun();
      parts.push(line.frame, terminator);
    }
  }
  endRun();
  return parts;
}

function joined(lines: readonly Line[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(lineBytes(lines));
  let end = 0;
  for (const { frame } of lines) {
    bytes.set(frame, end);
    end += frame.length + 1;
    bytes[end - 1] = lineFeed;
  }
  return bytes;
}
