import type { Readable } from "node:stream";

const maxTailChars = 2000;

/** Reads a stream to its end and keeps the last of it, for a person. */
export function keepTail(stream: Readable): () => string {
  let tail = "";
  stream.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString("utf8")).slice(-maxTailChars);
  });
  stream.on("error", () => {}); // its end is told by the process
  return () => tail.trim();
}
