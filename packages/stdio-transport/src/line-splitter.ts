import { guarded } from "./frame-intake.js";

/** Lines for a logger, of bounded length. */
export interface LineSplitter {
  push(chunk: Uint8Array): void;
  /** Gives out a last line without line end. */
  end(): void;
}

const lineFeed = 0x0a;

/**
 * Calls with each line, without `\n` or `\r\n`, invalid UTF-8 replaced. Of a line over the limit the beginning is given,
 * with the number of bytes that were left out. A callback that throws does not stop the stream.
 */
export function createLineSplitter(maxLineBytes: number, onLine: (line: string) => void): LineSplitter {
  let head: Uint8Array[] = [];
  let headBytes = 0;
  let leftOut = 0;

  const keep = (part: Uint8Array): void => {
    const room = maxLineBytes - headBytes;
    leftOut += Math.max(0, part.length - room);
    if (room <= 0 || part.length === 0) return;
    head.push(part.subarray(0, room));
    headBytes += Math.min(room, part.length);
  };
  const giveOut = (): void => {
    const text = Buffer.concat(head).toString("utf8");
    const line = leftOut > 0 ? `${text} … ${leftOut} bytes left out` : text.replace(/\r$/, "");
    head = [];
    headBytes = 0;
    leftOut = 0;
    guarded(() => onLine(line));
  };
  const push = (chunk: Uint8Array): void => {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, start)) {
      keep(bytes.subarray(start, end));
      giveOut();
      start = end + 1;
    }
    // A copy, so that a few bytes of an unfinished line do not hold the whole chunk in memory.
    keep(Uint8Array.prototype.slice.call(bytes, start, start + maxLineBytes));
    leftOut += Math.max(0, bytes.length - start - maxLineBytes);
  };
  return {
    push,
    end: () => {
      if (headBytes > 0 || leftOut > 0) giveOut();
    },
  };
}
