const emptyLine = Buffer.from("\r\n\r\n");

/** What `HeaderBlock.take` found. */
export interface HeaderPart {
  /** How many of the bytes belong to the header. */
  readonly taken: number;
  /** The block without its empty line, once that has come. Valid until the next call. */
  readonly block: Buffer | undefined;
}

/** A header block as it comes in, cut anywhere. */
export interface HeaderBlock {
  /** Bytes held of a block that is not complete. */
  readonly byteLength: number;
  /** Takes bytes up to the end of the empty line, or until the limit is reached. */
  take(bytes: Buffer): HeaderPart;
}

/** See `HeaderBlock`. Only what a chunk cuts is copied: a chunk may hold thousands of whole headers. */
export function createHeaderBlock(maxHeaderBytes: number): HeaderBlock {
  const memory = Buffer.alloc(maxHeaderBytes);
  let used = 0;
  const hold = (bytes: Buffer): HeaderPart => {
    const before = used;
    used += bytes.copy(memory, used);
    // The empty line itself may be cut: its last three bytes are searched again.
    const end = memory.subarray(0, used).indexOf(emptyLine, Math.max(0, before - (emptyLine.length - 1)));
    if (end === -1) return { taken: used - before, block: undefined };
    used = 0;
    return { taken: end + emptyLine.length - before, block: memory.subarray(0, end) };
  };
  return {
    get byteLength() {
      return used;
    },
    take(bytes) {
      if (used > 0) return hold(bytes);
      const within = bytes.subarray(0, maxHeaderBytes);
      const end = within.indexOf(emptyLine);
      return end === -1 ? hold(within) : { taken: end + emptyLine.length, block: within.subarray(0, end) };
    },
  };
}
