/** The last lines of a worker's stderr, for the error that tells of its death. */
export interface StderrTail {
  push(line: string): void;
  /** At most 4_096 bytes, cut at a character. */
  excerpt(): { readonly text: string; readonly isTruncated: boolean };
}

const MAX_LINES = 40;
const MAX_EXCERPT_BYTES = 4_096;
const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;

/** @param hide applied before anything is cut: half a token could not be found any more. */
export function createStderrTail(hide: (text: string) => string): StderrTail {
  const lines: string[] = [];
  let dropped = 0;
  return {
    push: (line) => {
      lines.push(line);
      if (lines.length <= MAX_LINES) return;
      lines.shift();
      dropped += 1;
    },
    excerpt: () => {
      const bytes = Buffer.from(lines.map(hide).join("\n"), "utf8");
      const text = lastCharacters(bytes, MAX_EXCERPT_BYTES);
      return { text, isTruncated: dropped > 0 || bytes.length > MAX_EXCERPT_BYTES };
    },
  };
}

/** The end of a text in at most so many bytes; a character that would be cut is left out. */
function lastCharacters(bytes: Buffer, maxBytes: number): string {
  let start = Math.max(0, bytes.length - maxBytes);
  while (((bytes[start] ?? 0) & CONTINUATION_MASK) === CONTINUATION) start += 1;
  return bytes.toString("utf8", start);
}
