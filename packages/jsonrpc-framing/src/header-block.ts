const emptyLine = Buffer.from("\r\n\r\n");

/** A header block as it comes in, cut anywhere. */
export interface HeaderBlock {
  /** Bytes held. */
  readonly byteLength: number;
  /**
   * Takes bytes up to the end of the empty line, or until the limit is reached.
   * @returns How many were taken, and the block without its empty line once that has come; the block is valid until
   * the next call.
   */
  take(bytes: Buffer): { readonly taken: number; readonly block: Buffer | undefined };
}

/** See `HeaderBlock`. Each byte is copied and searched once, however it is cut. */
export function createHeaderBlock(maxHeaderBytes: number): HeaderBlock {
  const memory = Buffer.alloc(maxHeaderBytes);
  let used = 0;
  return {
    get byteLength() {
      return used;
    },
    take(bytes) {
      const before = used;
      used += bytes.copy(memory, used);
      const end = memory.subarray(0, used).indexOf(emptyLine, Math.max(0, before - (emptyLine.length - 1)));
      if (end === -1) return { taken: used - before, block: undefined };
      used = 0;
      return { taken: end + emptyLine.length - before, block: memory.subarray(0, end) };
    },
  };
}
