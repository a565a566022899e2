import type { Readable } from "node:stream";
import type { StderrRecord } from "./child-handle.js";
import { createLineSplitter } from "./line-splitter.js";
import { createTail } from "./tail.js";

/** What `drainStderr` accepts. */
export interface StderrDrainOptions {
  readonly tailBytes: number;
  readonly maxLineBytes: number;
  readonly onLine: ((line: string) => void) | undefined;
}

/** Reads a stream to its end, whoever listens, so that the writer never blocks on it. */
export function drainStderr(stream: Readable, options: StderrDrainOptions): StderrRecord {
  const tail = createTail(options.tailBytes);
  const splitter = options.onLine === undefined ? undefined : createLineSplitter(options.maxLineBytes, options.onLine);
  let byteCount = 0;
  stream.on("data", (chunk: Uint8Array) => {
    byteCount += chunk.length;
    tail.push(chunk);
    splitter?.push(chunk);
  });
  stream.once("close", () => splitter?.end());
  stream.on("error", () => {
    // A broken pipe ends the drain; how the child ended is told elsewhere.
  });
  return {
    get byteCount() {
      return byteCount;
    },
    tail: tail.read,
  };
}
