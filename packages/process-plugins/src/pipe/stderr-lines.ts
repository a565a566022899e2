import type { Readable } from "node:stream";
import type { LogGate } from "./log-gate.js";

/** Reads standard error at all times, so that a plugin never blocks on it. */
export interface StderrLines {
  /** Every byte so far. */
  readonly byteCount: number;
  /** What came without a line end is a line too. */
  close(): void;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Lines without their ends, cut at `maxLineBytes`; holds no more than that. Invalid UTF-8 is replaced.
 * @param flood Lines that it has no use for are only counted: a flood of empty ones must not cost the host a text each.
 */
export function readStderrLines(
  stderr: Readable,
  maxLineBytes: number,
  onLine: (line: string) => void,
  flood?: Pick<LogGate, "isFull" | "leaveOut">,
): StderrLines {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let byteCount = 0;

  const keep = (piece: Buffer): void => {
    const room = maxLineBytes - heldBytes;
    if (piece.length === 0 || room <= 0) return;
    // Copied: a view would keep its whole chunk, and a line may come byte by byte.
    held.push(Buffer.from(piece.subarray(0, room)));
    heldBytes += Math.min(piece.length, room);
    if (held.length > 64) held = [Buffer.concat(held)];
  };
  const endLine = (): void => {
    const line = Buffer.concat(held);
    held = [];
    heldBytes = 0;
    onLine((line.at(-1) === carriageReturn ? line.subarray(0, -1) : line).toString("utf8"));
  };
  /** Leaves out all whole lines of a chunk; the place after them. */
  const passOver = (chunk: Buffer, { leaveOut }: Pick<LogGate, "leaveOut">): number => {
    const last = chunk.lastIndexOf(lineFeed);
    if (last === -1) return 0;
    let lines = 0;
    for (let at = 0; at <= last; at += 1) if (chunk[at] === lineFeed) lines += 1;
    held = [];
    heldBytes = 0;
    leaveOut(lines);
    return last + 1;
  };
  const onData = (chunk: Buffer): void => {
    byteCount += chunk.length;
    let from = 0;
    if (flood?.isFull() === true) from = passOver(chunk, flood);
    for (let at = chunk.indexOf(lineFeed, from); at !== -1; at = chunk.indexOf(lineFeed, from)) {
      keep(chunk.subarray(from, at));
      from = at + 1;
      endLine();
    }
    keep(chunk.subarray(from));
  };
  const close = (): void => {
    stderr.off("data", onData);
    if (heldBytes > 0) endLine();
  };
  stderr.on("data", onData);
  return {
    get byteCount() {
      return byteCount;
    },
    close,
  };
}
