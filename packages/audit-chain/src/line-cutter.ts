import { maxLineBytes } from "./line.js";

/** A piece of a segment that ends at a line feed. */
export interface StoredLine {
  /** Without its line feed; a view that is good until the next `push`. Empty when the line was too long to keep. */
  readonly bytes: Uint8Array;
  /** Of its first byte, in the segment. */
  readonly offset: number;
  readonly tooLong: boolean;
}

/** Cuts a segment's bytes into lines, holding no more than one of them. */
export interface LineCutter {
  /** Lines completed by this chunk. */
  push(chunk: Uint8Array): readonly StoredLine[];
  /** What is left after the last line feed; its `bytes` are empty when there is nothing. */
  rest(): StoredLine;
}

const lineFeed = 0x0a;

/** A cutter that begins at `offset` of its segment. */
export function createLineCutter(offset = 0): LineCutter {
  let start = offset;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let tooLong = false;

  const hold = (piece: Uint8Array): void => {
    heldBytes += piece.length;
    // One byte more than a line may have is enough to know that it is too long; the rest is counted, not kept.
    if (heldBytes > maxLineBytes) {
      tooLong = true;
      held = [];
    } else if (piece.length > 0) {
      // Not slice: on a Buffer that is a view, and the chunk is not ours to keep.
      held.push(new Uint8Array(piece));
    }
  };
  const take = (): StoredLine => {
    const line = { bytes: joined(held), offset: start, tooLong };
    start += heldBytes + 1;
    held = [];
    heldBytes = 0;
    tooLong = false;
    return line;
  };
  const push = (chunk: Uint8Array): readonly StoredLine[] => {
    const lines: StoredLine[] = [];
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, from)) {
      const piece = chunk.subarray(from, end);
      if (heldBytes === 0 && piece.length <= maxLineBytes) {
        lines.push({ bytes: piece, offset: start, tooLong: false });
        start += piece.length + 1;
      } else {
        hold(piece);
        lines.push(take());
      }
      from = end + 1;
    }
    hold(chunk.subarray(from));
    return lines;
  };
  return { push, rest: () => ({ bytes: joined(held), offset: start, tooLong }) };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first, second] = pieces;
  if (first === undefined) return new Uint8Array(0);
  if (second === undefined) return first;
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}
