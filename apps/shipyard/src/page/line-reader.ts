/** Lines completed by this piece of text; none while one is still partial. */
export type LineReader = (piece: string) => readonly string[];

export function createLineReader(): LineReader {
  let partial = "";
  return (piece) => {
    const lines = (partial + piece).split("\n");
    partial = lines.pop() ?? "";
    return lines.filter((line) => line !== "");
  };
}
