import type { JsonObject } from "@berth/jsonrpc-framing";
import { canonicalText } from "./canonical-text.js";
import type { Normalise } from "./normalise.js";

/** Who wrote a line. */
export type Direction = "host" | "plugin";

/** What one side wrote. `raw` is a line that is no message, with control characters escaped. */
export type TranscriptEntry =
  | { readonly dir: Direction; readonly msg: JsonObject }
  | { readonly dir: Direction; readonly raw: string };

/** The optional first line of a transcript. */
export interface TranscriptHeader {
  readonly title?: string | undefined;
  readonly spec?: string | undefined;
  readonly outcome?: string | undefined;
}

/** A transcript as it is kept: each line is canonical, with placeholders. */
export interface Transcript {
  readonly header: TranscriptHeader | undefined;
  readonly lines: readonly string[];
}

/** Most lines of a transcript, and most bytes of all of them. */
export const maxTranscriptLines = 10_000;
export const maxTranscriptBytes: number = 64 * 2 ** 20;

/** One line. Keys of the line itself are in their order already: `dir` before `msg` and `raw`. */
export function lineOf(entry: TranscriptEntry, normalise: Normalise): string {
  if ("msg" in entry) return `{"dir":"${entry.dir}","msg":${normalise(entry.msg)}}`;
  return `{"dir":"${entry.dir}","raw":${normaliseText(entry.raw, normalise)}}`;
}

/** The text of a file. */
export function writeTranscript({ header, lines }: Transcript): string {
  const first = header === undefined ? [] : [canonicalText(withoutAbsent(header))];
  return [...first, ...lines].map((line) => `${line}\n`).join("");
}

/** A text is normalised as the member of a message. */
function normaliseText(text: string, normalise: Normalise): string {
  return normalise({ "": text }).slice('{"":'.length, -"}".length);
}

function withoutAbsent(header: TranscriptHeader): JsonObject {
  const { title, spec, outcome } = header;
  return { title, spec, outcome };
}
