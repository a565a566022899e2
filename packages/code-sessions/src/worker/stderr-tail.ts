import type { Readable } from "node:stream";

const tailBytes = 4_096;

/** Drains a stream for its whole life and remembers its end. The text is an attacker's. */
export function keepTail(stream: Readable): () => string {
  let tail = Buffer.alloc(0);
  stream.on("data", (chunk: Uint8Array) => {
    tail = Buffer.concat([tail, chunk]).subarray(-tailBytes);
  });
  stream.on("error", () => undefined); // its end is told by the process's exit
  return () => tail.toString("utf8").trim();
}
