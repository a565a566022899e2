import type { RecoveredTail } from "./chain.js";
import { checkSegments, type Tail } from "./check.js";
import { ChainError } from "./errors.js";
import { createFindings, type Findings } from "./findings.js";
import { createLinkCheck } from "./link-check.js";
import type { LinkState } from "./link-state.js";
import type { Problem } from "./report.js";
import type { SegmentFiles } from "./segment-file.js";
import { type FolderSource, segmentNames, segmentSources } from "./segment-folder.js";
import { sha256 } from "./sha256.js";

/** A log as it was found, with a torn last record cut off. */
export interface RecoveredLog {
  readonly state: LinkState;
  /** The segment to go on with; undefined when one must be begun. */
  readonly segment: string | undefined;
  readonly tail: RecoveredTail | undefined;
}

/** Which log, and how to cut it. */
export interface RecoverOptions {
  readonly directory: string;
  readonly logId: string;
  readonly files: SegmentFiles;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a whole log back. Cuts off a torn last record and changes nothing else.
 * @throws {ChainError} `LOG_DAMAGED` with its place, `LOG_ID_MISMATCH`, `READ_FAILED`, `OPEN_FAILED`.
 */
export async function recoverLog({ directory, logId, files, signal }: RecoverOptions): Promise<RecoveredLog> {
  const names = await segmentNames(directory);
  const findings = createFindings(1);
  const links = createLinkCheck({ logId }, findings);
  const segments = readable(segmentSources(directory, names), findings);
  const { tail } = await checkSegments({ segments, sha256, links, brackets: undefined, findings, signal });
  const [problem] = findings.problems;
  if (problem !== undefined) throw refusal(problem, directory);
  if (tail === undefined) return { state: links.state, segment: undefined, tail: undefined };
  const segment = tail.line.offset > 0 ? tail.segment : names.at(-2);
  return { state: links.state, segment, tail: cutTail(tail, files) };
}

/**
 * Segments up to the first problem, after which none can change the answer. What the system cannot read now says nothing
 * about the log: it is no damage, and no reason to give the log up.
 */
async function* readable(
  sources: AsyncIterable<FolderSource>,
  findings: Findings,
): AsyncGenerator<FolderSource, void, undefined> {
  for await (const source of sources) {
    if (findings.problemCount > 0) return;
    if (source.cause !== undefined) {
      const { cause } = source;
      throw new ChainError("READ_FAILED", `the segment ${source.name}: ${source.refused}`, { cause });
    }
    yield source;
  }
}

function cutTail({ segment, line }: Tail, files: SegmentFiles): RecoveredTail | undefined {
  const { offset, bytes } = line;
  const isWhole = bytes.length === 0 && offset > 0;
  if (!isWhole) files.cut(segment, offset);
  return bytes.length === 0 ? undefined : { segment, offset, byteLength: bytes.length };
}

function refusal({ code, message, segment, offset, seq }: Problem, directory: string): ChainError {
  const place = { segment, offset, sequence: seq };
  const where = `${segment} at byte ${offset}, entry ${seq}`;
  const kind = code === "LOG_ID_MISMATCH" ? "LOG_ID_MISMATCH" : "LOG_DAMAGED";
  return new ChainError(kind, `the log in ${directory} is refused (${code}): ${where}: ${message}`, { place });
}
