import type { Head } from "./entry.js";

/** Faults that make a log not ok. */
export type ProblemCode =
  | "LINE_TOO_LONG"
  | "LINE_MALFORMED"
  | "HASH_MISMATCH"
  | "ENTRY_MALFORMED"
  | "LINK_BROKEN"
  | "SEQUENCE_BROKEN"
  | "CLOCK_WRONG"
  | "NOT_CANONICAL"
  | "BEGIN_MISSING"
  | "BEGIN_MALFORMED"
  | "FORMAT_UNKNOWN"
  | "LOG_ID_MISMATCH"
  | "SEGMENT_MISSING"
  | "SEGMENT_MISPLACED"
  | "SEGMENT_REFUSED"
  | "TAIL_DAMAGED"
  | "SESSION_NOT_OPEN"
  | "SESSION_REOPENED"
  | "OUTCOME_WITHOUT_INTENT";

/** Things that an honest log may show: what a crash left open, and what a clock did. */
export type NoticeCode =
  | "LOG_EMPTY"
  | "STARTS_LATE"
  | "TORN_TAIL"
  | "RECOVERED"
  | "CLOCK_BACK"
  | "CLOCK_STEPPED"
  | "SESSION_UNCLOSED"
  | "INTENT_UNMATCHED"
  | "TRACKING_LIMIT";

/** One thing that the verifier found, with its place. */
export interface Finding<Code extends string> {
  /** Sequence number of the entry; where it cannot be read, the one that is due there. */
  readonly seq: number;
  readonly code: Code;
  /** One sentence for a person. Holds no text from the log beyond escaped names and numbers. */
  readonly message: string;
  /** Name of the segment, as its source gave it. */
  readonly segment: string;
  /** Offset in the segment of the line's first byte. */
  readonly offset: number;
}
/** A fault: the log is not what its writer wrote, or its writer did not keep the rules. */
export type Problem = Finding<ProblemCode>;
/** Not a fault; see `NoticeCode`. */
export type Notice = Finding<NoticeCode>;

/** What `verifyChain` found. */
export interface VerifyReport {
  /** Whether there is no problem. Notices do not count. */
  readonly ok: boolean;
  /** Entries whose own hash holds. */
  readonly entries: number;
  /** Of the last entry whose own hash holds; null when there is none. */
  readonly head: (Head & { readonly time: string }) | null;
  /** In log order, at most `maxFindings` of them. */
  readonly problems: readonly Problem[];
  /** All of them, also those that are not listed. */
  readonly problemCount: number;
  /** In log order, at most `maxFindings` of them. */
  readonly notices: readonly Notice[];
  readonly noticeCount: number;
  /** As the first segment says; null when none does. */
  readonly logId: string | null;
  readonly segments: number;
}
