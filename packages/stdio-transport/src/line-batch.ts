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
  const parts = joinSmall(lines);
  const last = parts.length - 1;
  if (last === 0) {
    writable.write(parts[0], done);
    return;
  }
  writable.cork();
  // A stream calls back each part of a write that failed, or the last one when all went well.
  for (let index = 0; index < last; index++) writable.write(parts[index]);
  writable.write(parts[last], done);
  writable.uncork();
}

function joinSmall(lines: readonly Line[]): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  let run: Uint8Array[] = [];
  let runBytes = 0;
  const endRun = (): void => {
    if (runBytes > 0) parts.push(joined(run, runBytes));
    run = [];
    runBytes = 0;
  };
  for (const { frame } of lines) {
    if (frame.length > maxCopiedBytes) {
      endRun();
      parts.push(frame, terminator);
    } else {
      run.push(frame);
      runBytes += frame.length + 1;
    }
  }
  endRun();
  return parts;
}

function joined(frames: readonly Uint8Array[], byteLength: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(byteLength);
  let end = 0;
  for (const frame of frames) {
    bytes.set(frame, end);
    end += frame.length + 1;
    bytes[end - 1] = lineFeed;
  }
  return bytes;
}
