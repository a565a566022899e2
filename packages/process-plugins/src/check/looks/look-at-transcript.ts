import { readPluginText } from "../files/read-plugin-text.js";
import { describeDifference, firstDifference } from "../transcript/compare.js";
import { readTranscript } from "../transcript/read-transcript.js";
import { recordTranscript, transcriptFile } from "../transcript/record-transcript.js";
import { maxTranscriptBytes, type Transcript, writeTranscript } from "../transcript/transcript.js";
import type { CheckContext } from "./check-context.js";

/** The transcript that a plugin has: none, or one that cannot be read, and why. */
type Kept = { readonly transcript: Transcript | undefined } | { readonly why: string };

const recordIt = "record it with check --record, and read what it says before it is committed";

/** Compares with the golden one. */
export async function compareTranscript(context: CheckContext, lines: readonly string[]): Promise<void> {
  const { ledger } = context;
  const kept = await readKept(context);
  if ("why" in kept) return ledger.failed("transcript", kept.why, recordIt);
  if (kept.transcript === undefined) return ledger.failed("transcript", `there is no ${transcriptFile}`, recordIt);
  const expected = kept.transcript.lines;
  const difference = firstDifference(expected, lines);
  if (difference === undefined) {
    return ledger.passed("transcript", `all ${lines.length} lines are those of ${transcriptFile}`);
  }
  const advice = "answer as before, or record it anew with check --record and read what changed";
  ledger.failed("transcript", describeDifference(difference, expected.length), advice, { difference });
}

/** Writes it into the plugin's own folder, and into the copy, which is measured once more; the title of the one that is there stays. @returns the path. */
export async function keepTranscript(context: CheckContext, lines: readonly string[]): Promise<string> {
  const kept = await readKept(context);
  const header = "why" in kept ? undefined : kept.transcript?.header;
  const text = writeTranscript({ header, lines });
  const path = await recordTranscript(context.options.folder, text);
  await recordTranscript(context.bench.copy, text);
  context.ledger.passed("transcript", `recorded ${lines.length} lines`);
  return path;
}

async function readKept({ bench }: CheckContext): Promise<Kept> {
  const read = await readPluginText(bench.copy, transcriptFile, maxTranscriptBytes);
  if (read.kind === "absent") return { transcript: undefined };
  if (read.kind === "unreadable") return { why: read.why };
  const reading = readTranscript(read.text);
  return reading.ok ? reading : { why: `line ${reading.line} of ${transcriptFile}: ${reading.problem}` };
}
