/** Finds the lines that are JSON objects in a stream, in bounded memory. */
export interface Lines {
  push(chunk: Uint8Array): void;
  /** All bytes, those of other lines too. */
  bytes(): number;
}

const maxLineBytes = 16_384;
const maxMessages = 1_000;

/** Lines that are too long, or no object, are counted and dropped: they are what a flood is made of. */
export function createLines(onMessage: (message: object) => void): Lines {
  let held = Buffer.alloc(0);
  let bytes = 0;
  let messages = 0;
  const read = (line: Buffer): void => {
    if (line[0] !== 0x7b || line.length > maxLineBytes || messages >= maxMessages) return;
    messages += 1;
    const message = tryParse(line.toString("utf8"));
    if (typeof message === "object" && message !== null) onMessage(message);
  };
  return {
    bytes: () => bytes,
    push(chunk) {
      bytes += chunk.length;
      let rest = Buffer.concat([held, chunk]);
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        read(rest.subarray(0, end));
        rest = rest.subarray(end + 1);
      }
      // What is over the limit stays over it, and is dropped at its end.
      held = Buffer.from(rest.subarray(0, maxLineBytes + 1));
    },
  };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a line like any other
  }
}
