import { basename, dirname } from "node:path";
import { isChainError } from "./errors.js";
import { type LogPlace, listLogs } from "./log-list.js";
import type { Notice, Problem, VerifyReport } from "./report.js";
import { segmentNames, segmentSources } from "./segment-folder.js";
import { sha256 } from "./sha256.js";
import { verifyChain } from "./verify.js";

/** How to verify a log in a folder. */
export interface VerifyLogOptions {
  /** Re-check that each entry is in canonical form, which also finds duplicate keys. Default false. */
  readonly strict?: boolean | undefined;
  /** The id that the log must bear; absent: any. */
  readonly logId?: string | undefined;
  /** Problems and notices to list, each: 1 to 10,000. Default 100. The counts go on. */
  readonly maxFindings?: number | undefined;
  /** Ends the verification with `signal.reason`; looked at between chunks of 256 KiB. */
  readonly signal?: AbortSignal | undefined;
}

/** One log's line in a `FolderReport`. */
export interface LogReport {
  /** As the name of its folder says, or its first segment where one log is verified. */
  readonly id: string;
  /** Entries whose own hash holds. */
  readonly entries: number;
  /** Of the last of them; null when there is none. */
  readonly head: VerifyReport["head"];
  /** Whether it has no problem. */
  readonly ok: boolean;
}

/** A finding, and the id of the log that it is about. */
export type InLog<Finding> = Finding & { readonly log: string };

/** What `verifyLogs` found, over all logs of a folder. */
export interface FolderReport {
  /** Whether every log is. */
  readonly ok: boolean;
  /** Over all logs. */
  readonly entries: number;
  /** Of the log whose last entry is the newest by its writer's clock. */
  readonly head: VerifyReport["head"];
  /** At most `maxFindings` of each log. */
  readonly problems: readonly InLog<Problem>[];
  readonly problemCount: number;
  readonly notices: readonly InLog<Notice>[];
  readonly noticeCount: number;
  /** Oldest first. */
  readonly logs: readonly LogReport[];
}

/**
 * Verifies one log's folder, also while its writer is live (it then ends at the last whole line). Takes no lock.
 * @throws {ChainError} `OPTIONS_INVALID`, or `READ_FAILED` when the folder cannot be read, or reading a segment fails
 *   half-way. What is wrong with the log is in the report.
 */
export async function verifyLog(directory: string, options: VerifyLogOptions = {}): Promise<VerifyReport> {
  return verifyChain({ ...options, segments: segmentSources(directory, await segmentNames(directory)), sha256 });
}

/**
 * Verifies one segment's file alone, from wherever in its log it starts.
 * @throws {ChainError} `OPTIONS_INVALID`, or `READ_FAILED` when reading fails half-way.
 */
export function verifyFile(path: string, options: VerifyLogOptions = {}): Promise<VerifyReport> {
  return verifyChain({ ...options, partial: true, segments: segmentSources(dirname(path), [basename(path)]), sha256 });
}

/**
 * Verifies every log of a folder, each under the id that its own folder's name says, so that logs that changed places
 * are found. A log that cannot be read is a problem of that log.
 * @throws {ChainError} `OPTIONS_INVALID`, or `READ_FAILED` when the folder cannot be read.
 */
export async function verifyLogs(folder: string, options: Omit<VerifyLogOptions, "logId"> = {}): Promise<FolderReport> {
  const reports: NamedReport[] = [];
  for (const log of await listLogs(folder)) reports.push({ id: log.id, report: await verifyPlace(log, options) });
  return summarize(reports);
}

/** A report, and the id under which it is shown. */
export interface NamedReport {
  readonly id: string;
  readonly report: VerifyReport;
}

/** One report over several. */
export function summarize(reports: readonly NamedReport[]): FolderReport {
  const sum = (count: (report: VerifyReport) => number): number =>
    reports.reduce((total, { report }) => total + count(report), 0);
  return {
    ok: reports.every(({ report }) => report.ok),
    entries: sum((report) => report.entries),
    head: newest(reports.map(({ report }) => report.head)),
    problems: reports.flatMap(({ id, report }) => report.problems.map((problem) => ({ ...problem, log: id }))),
    problemCount: sum((report) => report.problemCount),
    notices: reports.flatMap(({ id, report }) => report.notices.map((notice) => ({ ...notice, log: id }))),
    noticeCount: sum((report) => report.noticeCount),
    logs: reports.map(({ id, report: { entries, head, ok } }) => ({ id, entries, head, ok })),
  };
}

async function verifyPlace({ id, directory }: LogPlace, options: VerifyLogOptions): Promise<VerifyReport> {
  try {
    return await verifyLog(directory, { ...options, logId: id });
  } catch (error) {
    if (!isChainError(error)) throw error;
    // One folder that cannot be read must not hide what is in the others.
    const problem: Problem = { seq: 1, code: "SEGMENT_REFUSED", message: error.message, segment: "", offset: 0 };
    return unread(id, problem);
  }
}

function unread(logId: string, problem: Problem): VerifyReport {
  const nothing = { entries: 0, head: null, notices: [], noticeCount: 0, segments: 0 };
  return { ...nothing, ok: false, problems: [problem], problemCount: 1, logId };
}

function newest(heads: readonly VerifyReport["head"][]): VerifyReport["head"] {
  return heads.reduce((best, head) => (best === null || (head !== null && head.time >= best.time) ? head : best), null);
}
