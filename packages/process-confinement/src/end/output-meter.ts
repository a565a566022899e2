import { pipeline, type Readable, Transform } from "node:stream";

/** Bytes of several streams together, bounded. */
export interface OutputMeter {
  /** The stream as the caller gets it: all bytes up to the limit, none after it. */
  watch(stream: Readable): Readable;
}

/** @param onExcess Called once, when one more byte than `maxBytes` was written. */
export function createOutputMeter(maxBytes: number, onExcess: () => void): OutputMeter {
  let left = maxBytes;
  let isOver = false;
  const take = (chunk: Buffer): Buffer => {
    const taken = chunk.subarray(0, left);
    left -= taken.length;
    if (taken.length < chunk.length && !isOver) {
      isOver = true;
      onExcess();
    }
    return taken;
  };
  return {
    watch: (stream) => {
      const metered = new Transform({
        transform: (chunk: Buffer, _encoding, done) => done(null, take(chunk)),
      });
      // A caller that destroys its stream closes the pipe of the command; a fault of one is the fault of the other.
      pipeline(stream, metered, () => {});
      return metered;
    },
  };
}
