import type { Readable } from "node:stream";

/** What a command has written to one stream. */
export interface CollectedOutput {
  /** Resolves when no more will come. Never rejects. */
  readonly done: Promise<void>;
  bytes(): Uint8Array;
  total(): number;
}

/** Reads a stream to its end, keeps at most so many bytes of its beginning, and counts all. */
export function collectOutput(stream: Readable, maxBytes: number): CollectedOutput {
  const kept: Buffer[] = [];
  let size = 0;
  let total = 0;
  stream.on("data", (chunk: Buffer) => {
    total += chunk.length;
    if (size >= maxBytes) return;
    const part = chunk.subarray(0, maxBytes - size);
    kept.push(part);
    size += part.length;
  });
  const done = new Promise<void>((resolve) => stream.once("end", resolve).once("close", resolve));
  return { done, bytes: () => Buffer.concat(kept), total: () => total };
}
