import { type BeginRecord, firstSequenceOf } from "./begin.js";
import type { EntryBody } from "./entry.js";
import type { Findings } from "./findings.js";
import type { LinkState } from "./link-state.js";

/** What to hold a log to. */
export interface LinkOptions {
  /** The id that it must bear. */
  readonly logId?: string | undefined;
  /** Whether it may begin with a later segment. */
  readonly partial?: boolean | undefined;
  /** Whether entries must be canonical. */
  readonly strict?: boolean | undefined;
}

/** Reports what is wrong with the beginning of a segment in the file `name`. */
export function judgeBegin(
  found: BeginRecord,
  name: string,
  due: LinkState,
  partial: boolean,
  findings: Findings,
): void {
  const named = firstSequenceOf(name);
  if (named !== undefined && named !== found.seq) {
    const what = `the file is named for entry ${named}, and its segment begins with entry ${found.seq}`;
    findings.problem("SEGMENT_MISPLACED", due.next, what);
  }
  if (due.logId !== null && found.logId !== due.logId) {
    findings.problem("LOG_ID_MISMATCH", due.next, `the segment is of log ${found.logId}, not of ${due.logId}`);
  }
  if (due.segment === 0 && partial) judgeStart(found, findings);
  else judgeOrder(found, due, findings);
}

function judgeStart({ seq }: BeginRecord, findings: Findings): void {
  if (seq !== 1) findings.notice("STARTS_LATE", seq, `entries before ${seq} are not here and were not checked`);
}

function judgeOrder(found: BeginRecord, due: LinkState, findings: Findings): void {
  const what = `segment ${found.segment} is where segment ${due.segment + 1} is due`;
  if (found.segment > due.segment + 1) {
    const entries = `${due.next} to ${found.seq - 1}`;
    findings.problem("SEGMENT_MISSING", due.next, `${what}: entries ${entries} are missing`);
  } else if (found.segment <= due.segment) {
    findings.problem("SEGMENT_MISPLACED", due.next, what);
  } else if (found.seq !== due.next) {
    findings.problem(
      "SEQUENCE_BROKEN",
      due.next,
      `the segment begins with entry ${found.seq} where ${due.next} is due`,
    );
  } else {
    judgeLink(found.prev, due.next, "the beginning of the segment", due, findings);
  }
}

/** Reports an entry that is not where it belongs, or whose time is not flagged as it must be. */
export function judgeEntry(found: EntryBody, due: LinkState, findings: Findings): void {
  const { seq, prev } = found;
  if (seq === due.next) judgeLink(prev, seq, `entry ${seq}`, due, findings);
  else findings.problem("SEQUENCE_BROKEN", seq, outOfSequence(seq, due.next));
  judgeTime(found, due, findings);
}

function judgeLink(prev: string, seq: number, what: string, due: LinkState, findings: Findings): void {
  if (due.links === undefined || due.links.includes(prev)) return;
  findings.problem("LINK_BROKEN", seq, `${what} does not link to the line before it`);
}

function outOfSequence(found: number, due: number): string {
  const what = `entry ${found} is where entry ${due} is due`;
  if (found < due) return `${what}: repeated or moved`;
  return `${what}: ${due === found - 1 ? `entry ${due} is` : `entries ${due} to ${found - 1} are`} missing or moved`;
}

function judgeTime({ seq, time, clock }: EntryBody, due: LinkState, findings: Findings): void {
  if (clock === "back") findings.notice("CLOCK_BACK", seq, `the clock went back before entry ${seq}, to ${time}`);
  if (clock === "stepped") findings.notice("CLOCK_STEPPED", seq, `the clock was set before entry ${seq}, to ${time}`);
  // Across a gap or a damaged line nothing is known about the time before.
  if (seq !== due.next || due.lastTime === undefined) return;
  const back = time < due.lastTime;
  if (back === (clock === "back")) return;
  const how = back ? "goes back in time and does not say so" : "says that the clock went back, which it did not";
  findings.problem("CLOCK_WRONG", seq, `entry ${seq} ${how}`);
}
