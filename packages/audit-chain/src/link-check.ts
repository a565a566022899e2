import { currentFormat, hasFormat, isBeginRecord } from "./begin.js";
import { type CanonicalRules, canonicalText } from "./canonical.js";
import type { EntryBody } from "./entry.js";
import { entryRules, isEntryBody } from "./entry-body.js";
import type { Findings } from "./findings.js";
import { hashText, hexOf, isHashOf } from "./hex.js";
import type { LineKind, LineParts } from "./line.js";
import { judgeBegin, judgeEntry, type LinkOptions } from "./link-rules.js";
import { afterBegin, afterEntry, afterFault, firstState, type LinkState } from "./link-state.js";
import { createMemberOrders } from "./member-order.js";

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
  const readBody = createBodyReader();
  const rules: CanonicalRules = { ...entryRules, orderOf: createMemberOrders() };
  let file = "";
  let beginDue = false;
  let state = firstState(options.logId);

  const passOver = (kind: LineKind, links: readonly string[] | undefined): undefined => {
    beginDue = false;
    state = afterFault(state, kind, links);
  };
  const begin = ({ value, text }: Body, hash: string): undefined => {
    if (!isBeginRecord(value)) {
      reportBegin(value, state.next, findings);
      return passOver("begin", [hash]);
    }
    judgeBegin(value, file, state, options.partial === true, findings);
    if (options.strict === true) judgeForm({ value, text }, rules, state.next, findings);
    state = afterBegin(state, value, hash);
  };
  const entry = ({ value, text }: Body, hash: string): CheckedEntry | undefined => {
    if (!isEntryBody(value)) {
      findings.problem("ENTRY_MALFORMED", state.next, `entry ${state.next} lacks what each entry must have`);
      return passOver("entry", [hash]);
    }
    judgeEntry(value, state, findings);
    if (options.strict === true) judgeForm({ value, text }, rules, value.seq, findings);
    state = afterEntry(state, value, hash);
    return { body: value, hash };
  };
  const line = ({ kind, body, hash: claimed }: LineParts, digest: Uint8Array): CheckedEntry | undefined => {
    const hash = hexOf(digest);
    if (!isHashOf(claimed, digest)) {
      findings.problem("HASH_MISMATCH", state.next, `the ${nameOf(kind)} has not the hash that it bears`);
      return passOver(kind, [hashText(claimed), hash]);
    }
    if (beginDue && kind === "entry") {
      findings.problem("BEGIN_MISSING", state.next, "the segment does not say which part of which log it is");
    }
    beginDue = false;
    return kind === "begin" ? begin(readBody(body), hash) : entry(readBody(body), hash);
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

/** What was hashed, as text and parsed. */
interface Body {
  readonly text: string;
  /** undefined when it is not JSON in UTF-8; then no check takes it for anything. */
  readonly value: unknown;
}

function createBodyReader(): (bytes: Uint8Array) => Body {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return (bytes) => {
    try {
      const text = decoder.decode(bytes);
      return { text, value: JSON.parse(text) };
    } catch {
      return { text: "", value: undefined }; // the caller reports the line as malformed
    }
  };
}

function judgeForm({ value, text }: Body, rules: CanonicalRules, seq: number, findings: Findings): void {
  if (!isCanonical(value, text, rules)) {
    findings.problem("NOT_CANONICAL", seq, `the line of entry ${seq} is not in canonical form`);
  }
}

function isCanonical(value: unknown, text: string, rules: CanonicalRules): boolean {
  try {
    return canonicalText(value, rules) === text;
  } catch {
    return false; // not even I-JSON
  }
}
