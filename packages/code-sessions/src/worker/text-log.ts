/** Text that comes in many pieces. A join of millions of tiny strings costs more than what they say. */
export interface TextLog {
  add(text: string): void;
  readonly text: string;
}

const piecesInBlock = 4_096;

export function createTextLog(): TextLog {
  const blocks: string[] = [];
  let pieces: string[] = [];
  return {
    add(text) {
      pieces.push(text);
      if (pieces.length < piecesInBlock) return;
      blocks.push(pieces.join(""));
      pieces = [];
    },
    get text() {
      return [...blocks, ...pieces].join("");
    },
  };
}
