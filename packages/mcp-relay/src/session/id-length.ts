import type { Span } from "@berth/jsonrpc-framing";

/** Longest id, progress token and task id that is kept, as written: more would let a peer fill memory with a few of them. */
export const maxIdBytes = 1_024;

/** Whether an id or token is longer than is kept. */
export function isLong(span: Span): boolean {
  return span.end - span.start > maxIdBytes;
}
