/** Keeps the last bytes of a stream in constant memory. */
export interface Tail {
  push(chunk: Uint8Array): void;
  /** A copy, oldest byte first. */
  read(): Uint8Array;
}

/** A ring that is allocated with the first byte, since most children write nothing. */
export function createTail(capacity: number): Tail {
  let ring: Uint8Array | undefined;
  let written = 0;
  const push = (chunk: Uint8Array): void => {
    if (capacity === 0) return;
    ring ??= new Uint8Array(capacity);
    const kept = chunk.length > capacity ? chunk.subarray(chunk.length - capacity) : chunk;
    written += chunk.length - kept.length;
    const start = written % capacity;
    const untilEnd = Math.min(kept.length, capacity - start);
    ring.set(kept.subarray(0, untilEnd), start);
    ring.set(kept.subarray(untilEnd), 0);
    written += kept.length;
  };
  const read = (): Uint8Array => {
    if (ring === undefined) return new Uint8Array(0);
    if (written <= capacity) return ring.slice(0, written);
    const start = written % capacity;
    return Buffer.concat([ring.subarray(start), ring.subarray(0, start)]);
  };
  return { push, read };
}
