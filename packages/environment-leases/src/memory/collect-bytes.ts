import type { Readable } from "node:stream";

/** Reads to the end; keeps what fits and counts the rest. */
export async function collectBytes(
  stream: Readable,
  maxBytes: number,
): Promise<{ readonly kept: Uint8Array; readonly total: number }> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of stream) {
    const bytes: Buffer = Buffer.from(chunk);
    const room = maxBytes - total;
    if (room > 0) chunks.push(bytes.subarray(0, room));
    total += bytes.length;
  }
  return { kept: Buffer.concat(chunks), total };
}
