const TOKEN_BYTES = 512;

/** A short token whose bytes come in chunks. */
export interface Token {
  clear(): void;
  append(bytes: Buffer, from: number, to: number): void;
  /** The whole token, valid until the next `clear`; undefined when it was longer than 512 bytes. */
  bytes(): Buffer | undefined;
}

/** See `Token`. Its memory is constant: of what is over 512 bytes only the size is known. */
export function createToken(): Token {
  const memory = Buffer.alloc(TOKEN_BYTES);
  let length = 0;
  return {
    clear() {
      length = 0;
    },
    append(bytes, from, to) {
      if (length < TOKEN_BYTES) bytes.copy(memory, length, from, to);
      length += to - from;
    },
    bytes: () => (length <= TOKEN_BYTES ? memory.subarray(0, length) : undefined),
  };
}
