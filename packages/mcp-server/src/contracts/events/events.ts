import type { StreamEvent } from "../../http/legacy/event-store.js";

/** An event that can be told from those of other streams and sessions by its message. */
export function eventOf(stream: number, position: number, session = "", more: Partial<StreamEvent> = {}): StreamEvent {
  const message = JSON.stringify({ session, stream, position });
  return { stream, position, needs: Math.max(0, position - 1), droppable: position % 3 === 0, message, ...more };
}

/** Ids of sessions are visible ASCII (MCP 2025-11-25, Transports § Session Management): what a store could take for something else. */
export const sessionIds: readonly string[] = [
  "a",
  "A",
  "aa",
  "a:1",
  "a/1",
  "a:1:2",
  "a-1",
  ":",
  "..",
  "../a",
  "%",
  "_",
  "*",
  "a*",
  "[a-z]",
  "__proto__",
  "constructor",
  "' OR '1'='1",
  "\\",
  "a".repeat(300),
];

/** Of no session: nothing was ever appended. */
export const unknownSessions: readonly string[] = [
  "",
  "b",
  "toString",
  "\u0000",
  "a\n",
  "é",
  "\ud800",
  "😀",
  "x".repeat(10_000),
];
