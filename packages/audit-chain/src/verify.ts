import { createBracketCheck } from "./brackets.js";
import { checkSegments, type SegmentSource, type Sha256 } from "./check.js";
import { ChainError } from "./errors.js";
import { createFindings } from "./findings.js";
import { createLinkCheck } from "./link-check.js";
import type { VerifyReport } from "./report.js";

export type { SegmentSource } from "./check.js";
export type { Head } from "./entry.js";
export type { Finding, Notice, NoticeCode, Problem, ProblemCode, VerifyReport } from "./report.js";

/** What `verifyChain` takes. */
export interface VerifyOptions {
  /** The segments in order; each is read to its end before the next. */
  readonly segments: AsyncIterable<SegmentSource> | Iterable<SegmentSource>;
  /** SHA-256, such as one over `crypto.subtle.digest`. */
  readonly sha256: Sha256;
  /** Re-check canonical form (RFC 8785), which also finds duplicate keys. Default false. */
  readonly strict?: boolean | undefined;
  /** The id that the log must bear; absent: any, the same throughout. */
  readonly logId?: string | undefined;
  /** Whether the first segment may be a later one, as when one file is checked alone. Default false. */
  readonly partial?: boolean | undefined;
  /** Problems and notices to list, each: 1 to 10,000. Default 100. The counts go on. */
  readonly maxFindings?: number | undefined;
  /** Looked at between chunks; a source that can stall should end by the same signal. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Checks a log: form, hashes, links, sequence, times, session brackets and unmatched intents. Streams; holds one line
 * (at most 65,619 bytes), one chunk, and at most 100,000 open sessions and intents each.
 * It trusts no length, needs nothing of Node, and never throws over what the log contains.
 *
 * A log that ends early at a whole line is whole to it: compare `head` with one that you kept elsewhere.
 * @throws {ChainError} `OPTIONS_INVALID`.
 */
export async function verifyChain(options: VerifyOptions): Promise<VerifyReport> {
  const { segments, sha256, signal, partial = false } = options;
  const findings = createFindings(readMaxFindings(options));
  const links = createLinkCheck(options, findings);
  const brackets = createBracketCheck(partial, findings);
  const checked = await checkSegments({ segments, sha256, links, brackets, findings, signal });
  if (checked.segments === 0) findings.notice("LOG_EMPTY", 1, "there is no segment");
  brackets.end();
  const { last } = checked;
  return {
    ok: findings.problemCount === 0,
    entries: checked.entries,
    head: last === undefined ? null : { sequence: last.body.seq, hash: last.hash, time: last.body.time },
    problems: findings.problems,
    problemCount: findings.problemCount,
    notices: findings.notices,
    noticeCount: findings.noticeCount,
    logId: links.state.logId,
    segments: checked.segments,
  };
}

const known: { readonly [Name in keyof VerifyOptions]-?: true } = {
  segments: true,
  sha256: true,
  strict: true,
  logId: true,
  partial: true,
  maxFindings: true,
  signal: true,
};

/** The one option with a range. Unknown options are refused here too: a misspelled `strict` would check less. */
function readMaxFindings(options: VerifyOptions): number {
  for (const name of Object.keys(options)) {
    if (!(name in known)) throw new ChainError("OPTIONS_INVALID", `there is no option ${name}`);
  }
  const { maxFindings = 100 } = options;
  if (Number.isInteger(maxFindings) && maxFindings >= 1 && maxFindings <= 10_000) return maxFindings;
  throw new ChainError("OPTIONS_INVALID", `maxFindings is ${maxFindings}; it must be a whole number from 1 to 10000`);
}
