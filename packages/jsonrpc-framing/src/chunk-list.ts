/** Smaller pieces are copied together: a view costs some 200 bytes, and a peer may write byte by byte. */
const MIN_VIEW_BYTES = 1024;
const MIN_BLOCK_BYTES = 1024;
const MAX_BLOCK_BYTES = 65_536;

/** The pieces of one message that is not complete. Memory is the bytes held and at most a quarter more. */
export interface ChunkList {
  readonly byteLength: number;
  /** The byte that came last; undefined when empty. */
  last(): number | undefined;
  append(piece: Buffer): void;
  /** All pieces and `tail` in fresh memory, cut to `byteLength`; the list is then empty. */
  join(tail: Buffer, byteLength: number): Buffer;
  /** All pieces in order; the list is then empty. */
  drain(): readonly Buffer[];
}

/** See `ChunkList`. Keeps no reference when empty. */
export function createChunkList(): ChunkList {
  let pieces: Buffer[] = [];
  let byteLength = 0;
  // The block that small pieces are copied into: `start` to `used` is not yet among the pieces.
  let block: Buffer | undefined;
  let start = 0;
  let used = 0;

  const sealRun = (): void => {
    if (block === undefined || used === start) return;
    pieces.push(block.subarray(start, used));
    start = used;
  };
  const copy = (piece: Buffer): void => {
    if (block === undefined || block.length - used < piece.length) {
      sealRun();
      const size = block === undefined ? MIN_BLOCK_BYTES : Math.min(2 * block.length, MAX_BLOCK_BYTES);
      block = Buffer.allocUnsafe(size);
      start = 0;
      used = 0;
    }
    block.set(piece, used);
    used += piece.length;
  };
  const clear = (): void => {
    pieces = [];
    byteLength = 0;
    block = undefined;
    start = 0;
    used = 0;
  };

  return {
    get byteLength() {
      return byteLength;
    },
    last() {
      const piece = block !== undefined && used > start ? block.subarray(start, used) : pieces[pieces.length - 1];
      return piece?.[piece.length - 1];
    },
    append(piece) {
      if (piece.length === 0) return;
      byteLength += piece.length;
      if (piece.length < MIN_VIEW_BYTES) {
        copy(piece);
      } else {
        sealRun();
        pieces.push(piece);
      }
    },
    join(tail, length) {
      sealRun();
      pieces.push(tail);
      const joined = Buffer.concat(pieces, length);
      clear();
      return joined;
    },
    drain() {
      sealRun();
      const drained = pieces;
      clear();
      return drained;
    },
  };
}
