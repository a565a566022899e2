/** Bytes cut into lines; holds at most one line's limit. */
export interface LineSplitter {
  /** Lines that this chunk completes, without their line feed; `undefined` stands for one that was over the limit. */
  push(chunk: Uint8Array): readonly (Uint8Array | undefined)[];
}

/** Cuts at line feeds. What is over the limit is passed over up to its line feed, in constant memory. */
export function createLineSplitter(maxBytes: () => number): LineSplitter {
  let parts: Uint8Array[] = [];
  let held = 0;
  let over = false;
  const add = (part: Uint8Array): void => {
    over ||= held + part.length > maxBytes();
    if (over) {
      parts = [];
      held = 0;
    } else if (part.length > 0) {
      parts.push(part);
      held += part.length;
    }
  };
  const take = (): Uint8Array | undefined => {
    const line = over ? undefined : Buffer.concat(parts);
    parts = [];
    held = 0;
    over = false;
    return line;
  };
  return {
    push: (chunk) => {
      const lines: (Uint8Array | undefined)[] = [];
      let start = 0;
      for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
        add(chunk.subarray(start, end));
        lines.push(take());
        start = end + 1;
      }
      add(chunk.subarray(start));
      return lines;
    },
  };
}
