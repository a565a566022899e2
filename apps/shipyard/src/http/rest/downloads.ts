import { BodyRefusal } from "@berth/command-line/http";

/** Files that are on their way to clients. One that its client does not read stays in memory, so each owner has a few. */
export interface Downloads {
  /**
   * The body of an answer; its place is free again when it was read to its end or given up.
   * @throws {BodyRefusal} 503 when the owner has too many under way; then nothing is read.
   */
  body(owner: string, read: () => Promise<Uint8Array>): Promise<ReadableStream<Uint8Array>>;
}

const chunkBytes = 65_536;

export function createDownloads(maxPerOwner: number): Downloads {
  const underWay = new Map<string, number>();
  const takePlace = (owner: string): (() => void) => {
    const count = underWay.get(owner) ?? 0;
    if (count >= maxPerOwner) throw new BodyRefusal(503, `${count} files are being read already`);
    underWay.set(owner, count + 1);
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      const left = (underWay.get(owner) ?? 1) - 1;
      if (left === 0) underWay.delete(owner);
      else underWay.set(owner, left);
    };
  };
  return {
    async body(owner, read) {
      const leave = takePlace(owner);
      try {
        return inChunks(await read(), leave);
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

function inChunks(bytes: Uint8Array, onDone: () => void): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream(
    {
      pull(stream) {
        if (at < bytes.length) stream.enqueue(bytes.subarray(at, at + chunkBytes));
        at += chunkBytes;
        if (at < bytes.length) return;
        stream.close();
        onDone();
      },
      cancel: onDone,
    },
    { highWaterMark: 0 },
  );
}
