import { type BeginRecord, currentFormat, hasFormat, isBeginRecord } from "./begin.js";
import { canonicalText } from "./canonical.js";
import type { EntryBody } from "./entry.js";
import { entryRules, isEntryBody } from "./entry-body.js";
import type { Findings } from "./findings.js";
import { hashText, hexOf, isHashOf, type LineKind, type LineParts } from "./line.js";
import { firstState, judgeBegin, judgeEntry, type LinkOptions, type LinkState } from "./link-rules.js";

/** An entry whose own hash holds. */
export interface CheckedEntry {
  readonly body: EntryBody;
  readonly hash: string;
}

/** Checks line after line of a log. Pure: knows neither files nor how a hash is made. */
export interface LinkCheck {
  /** A segment starts; its first line must begin it. */
  startSegment(name: string): void;
  /** A line that has the form of one, with the hash that its body really has. */
  line(parts: LineParts, digest: Uint8Array): CheckedEntry | undefined;
  /** A line, or a whole segment, that cannot be read as one. */
  unreadable(): void;
  readonly state: LinkState;
}

/** A check from the beginning of a log. A state machine: what each line may be depends on the ones before it. */
export function createLinkCheck(options: LinkOptions, findings: Findings): LinkCheck {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let file = "";
  let beginDue = false;
  let state = firstState(options.logId);

  // After a fault the next lines are judged by what is still known, so that one changed byte is one problem.
  const passOver = (kind: LineKind, links: readonly string[] | undefined): undefined => {
    beginDue = false;
    const place = kind === "begin" ? { segment: state.segment + 1 } : { next: state.next + 1 };
    state = { ...state, ...place, links, lastTime: undefined };
  };
  const judgeForm = (value: EntryBody | BeginRecord, text: string, seq: number): void => {
    if (options.strict !== true || isCanonical(value, text)) return;
    findings.problem("NOT_CANONICAL", seq, `the line of entry ${seq} is not in canonical form`);
  };
  const begin = (value: unknown, text: string, hash: string): undefined => {
    if (!isBeginRecord(value)) {
      reportBegin(value, state.next, findings);
      return passOver("begin", [hash]);
    }
    judgeBegin(value, file, state, options.partial === true, findings);
    judgeForm(value, text, state.next);
    const { logId, segment, seq } = value;
    const joined = seq === state.next && segment === state.segment + 1;
    const lastTime = joined ? state.lastTime : undefined;
    state = { logId: state.logId ?? logId, segment, next: seq, links: [hash], lastTime };
  };
  const entry = (value: unknown, text: string, hash: string): CheckedEntry | undefined => {
    if (!isEntryBody(value)) {
      findings.problem("ENTRY_MALFORMED", state.next, `entry ${state.next} lacks what each entry must have`);
      return passOver("entry", [hash]);
    }
    judgeEntry(value, state, findings);
    judgeForm(value, text, value.seq);
    state = { ...state, next: value.seq + 1, links: [hash], lastTime: value.time };
    return { body: value, hash };
  };
  const line = (parts: LineParts, digest: Uint8Array): CheckedEntry | undefined => {
    const hash = hexOf(digest);
    if (!isHashOf(parts.hash, digest)) {
      findings.problem("HASH_MISMATCH", state.next, `the ${nameOf(parts.kind)} has not the hash that it bears`);
      return passOver(parts.kind, [hashText(parts.hash), hash]);
    }
    if (beginDue && parts.kind === "entry") {
      findings.problem("BEGIN_MISSING", state.next, "the segment does not say which part of which log it is");
    }
    beginDue = false;
    const text = decode(decoder, parts.body);
    const value = parse(text);
    return parts.kind === "begin" ? begin(value, text, hash) : entry(value, text, hash);
  };

  return {
    line,
    startSegment: (name) => {
      file = name;
      beginDue = true;
    },
    unreadable: () => passOver(beginDue ? "begin" : "entry", undefined),
    get state() {
      return state;
    },
  };
}

const nameOf = (kind: LineKind): string => (kind === "begin" ? "beginning of the segment" : "entry");

function reportBegin(value: unknown, due: number, findings: Findings): void {
  if (hasFormat(value) && value.format !== currentFormat) {
    findings.problem(
      "FORMAT_UNKNOWN",
      due,
      `the segment has format ${value.format}; this verifier knows ${currentFormat}`,
    );
  } else {
    findings.problem("BEGIN_MALFORMED", due, "the beginning of the segment lacks what it must say");
  }
}

/** The text of a body; empty, and so no JSON, when it is not UTF-8. */
function decode(decoder: { decode(bytes: Uint8Array): string }, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    return ""; // the caller reports the line as malformed
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller reports the line as malformed
  }
}

function isCanonical(value: EntryBody | BeginRecord, text: string): boolean {
  try {
    return canonicalText(value, entryRules) === text;
  } catch {
    return false; // not even I-JSON
  }
}
