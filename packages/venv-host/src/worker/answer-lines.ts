/** A line over the limit, of which only both ends were kept: an answer has its id as its last member. */
export interface CutLine {
  readonly byteLength: number;
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** Who is told of lines, in the order of the stream. */
export interface LineReceiver {
  /** Without its line end. Never empty. The bytes are valid until it returns. */
  onLine(bytes: Buffer): void;
  onCut(line: CutLine): void;
}

/** A stream of bytes, cut into lines of bounded length. */
export interface AnswerLines {
  push(chunk: Buffer): void;
  /** The stream has ended: what came without a line end is a line too. */
  end(): void;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Kept of each end of a line over the limit. */
export const EDGE_BYTES = 4_096;
/** A buffer that grew beyond this is let go after its line. */
const KEPT_CAPACITY = 1_048_576;

/** Holds at most `maxLineBytes`, twice that while it grows, whatever comes: an endless line costs its two ends. */
export function createAnswerLines(maxLineBytes: number, receiver: LineReceiver): AnswerLines {
  // One more than the limit: a carriage return before the line feed does not count.
  const held = createGrowingBuffer(maxLineBytes + 1);
  let cut: CutLine | undefined;

  const take = (piece: Buffer): void => {
    if (cut === undefined && held.byteLength + piece.length <= maxLineBytes + 1) {
      held.append(piece);
      return;
    }
    cut = extend(cut ?? cutOf(held.bytes()), piece);
    held.clear();
  };
  const endLine = (line: Buffer): void => {
    const bytes = line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
    if (bytes.length > maxLineBytes) receiver.onCut(cutOf(bytes));
    else if (bytes.length > 0) receiver.onLine(bytes);
  };
  const giveOut = (): void => {
    if (cut === undefined) endLine(held.bytes());
    else receiver.onCut(cut);
    cut = undefined;
    held.clear();
  };
  return {
    push: (chunk) => {
      let from = 0;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
        const piece = chunk.subarray(from, at);
        from = at + 1;
        if (cut === undefined && held.byteLength === 0 && piece.length <= maxLineBytes) {
          endLine(piece); // most lines come whole: no copy
        } else {
          take(piece);
          giveOut();
        }
      }
      if (from < chunk.length) take(chunk.subarray(from));
    },
    end: giveOut,
  };
}

function cutOf(bytes: Buffer): CutLine {
  const head = Buffer.from(bytes.subarray(0, EDGE_BYTES));
  return { byteLength: bytes.length, head, tail: Buffer.from(bytes.subarray(-EDGE_BYTES)) };
}

function extend({ byteLength, head, tail }: CutLine, piece: Buffer): CutLine {
  const room = EDGE_BYTES - head.length;
  return {
    byteLength: byteLength + piece.length,
    head: room > 0 ? Buffer.concat([head, piece.subarray(0, room)]) : head,
    tail: Buffer.from(Buffer.concat([tail, piece.subarray(-EDGE_BYTES)]).subarray(-EDGE_BYTES)),
  };
}

interface GrowingBuffer {
  readonly byteLength: number;
  append(piece: Buffer): void;
  bytes(): Buffer;
  clear(): void;
}

/** One buffer that doubles: a line that comes byte by byte must not cost an object for each byte. */
function createGrowingBuffer(maxBytes: number): GrowingBuffer {
  let buffer = Buffer.alloc(0);
  let length = 0;
  return {
    get byteLength() {
      return length;
    },
    append: (piece) => {
      if (length + piece.length > buffer.length) {
        const capacity = Math.min(maxBytes, Math.max(length + piece.length, buffer.length * 2, 65_536));
        const grown = Buffer.allocUnsafe(Math.max(capacity, length + piece.length));
        buffer.copy(grown, 0, 0, length);
        buffer = grown;
      }
      piece.copy(buffer, length);
      length += piece.length;
    },
    bytes: () => buffer.subarray(0, length),
    clear: () => {
      length = 0;
      if (buffer.length > KEPT_CAPACITY) buffer = Buffer.alloc(0);
    },
  };
}
