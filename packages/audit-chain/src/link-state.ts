import type { BeginRecord } from "./begin.js";
import type { EntryBody } from "./entry.js";
import { type LineKind, noHash } from "./line.js";

/** Where a log stands after the lines so far. */
export interface LinkState {
  /** As the first segment says, or as is asked for; null before either. */
  readonly logId: string | null;
  /** Number of the segment; 0 before the first. */
  readonly segment: number;
  /** Sequence number that is due, from 1. */
  readonly next: number;
  /** Hashes that the next line may link to: one, or two after a line whose own hash fails; undefined: unknown. */
  readonly links: readonly string[] | undefined;
  /** Time of the last entry; undefined when there is none or it cannot be read. */
  readonly lastTime: string | undefined;
}

/** Where every log begins. */
export function firstState(logId: string | undefined): LinkState {
  return { logId: logId ?? null, segment: 0, next: 1, links: [noHash], lastTime: undefined };
}

/** After the beginning of a segment, whether it is the one that was due or not. */
export function afterBegin(before: LinkState, { logId, segment, seq }: BeginRecord, hash: string): LinkState {
  const joined = seq === before.next && segment === before.segment + 1;
  const lastTime = joined ? before.lastTime : undefined;
  return { logId: before.logId ?? logId, segment, next: seq, links: [hash], lastTime };
}

/** After an entry, whether it is the one that was due or not. */
export function afterEntry(before: LinkState, { seq, time }: EntryBody, hash: string): LinkState {
  return { ...before, next: seq + 1, links: [hash], lastTime: time };
}

/** After a line that cannot be believed: the next ones are judged by what is still known, so that one fault is one problem. */
export function afterFault(before: LinkState, kind: LineKind, links: readonly string[] | undefined): LinkState {
  const place = kind === "begin" ? { segment: before.segment + 1 } : { next: before.next + 1 };
  return { ...before, ...place, links, lastTime: undefined };
}
