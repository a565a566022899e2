import type { CutLine } from "./answer-lines.js";

/** What one line of a worker's output is. */
export type Reading =
  | { readonly is: "frame"; readonly id: string; readonly members: Readonly<Record<string, unknown>> }
  | { readonly is: "noise" | "blank" };

/** The id of an error of a worker that could not, or in old versions does not, say whose it is. */
export const UNKNOWN_ID = "unknown";

/**
 * What was tried of one line with something else before its frame, in bytes: for a line of braces the work must not grow
 * with the square of its length.
 */
const LEAST_TRIED_BYTES = 262_144;

/** @param awaited Ids for which a frame is looked for behind something that was printed without a line end. */
export function readAnswer(bytes: Buffer, awaited: readonly string[]): Reading {
  const text = bytes.toString("utf8").trim();
  if (text === "") return { is: "blank" };
  const whole = tryFrame(text);
  if (whole !== undefined) return whole;
  const isHopeful = [...awaited, UNKNOWN_ID].some((id) => text.includes(`"${id}"`));
  return (isHopeful ? findGlued(text, awaited) : undefined) ?? { is: "noise" };
}

function tryFrame(text: string): Extract<Reading, { is: "frame" }> | undefined {
  if (!text.startsWith("{") || !text.endsWith("}")) return undefined;
  const members = tryParse(text);
  const id = members?.["request_id"];
  return members !== undefined && typeof id === "string" ? { is: "frame", id, members } : undefined;
}

/** A frame at the end of the line, from whichever brace on: only one of them can begin an object that ends with the line. */
function findGlued(text: string, awaited: readonly string[]): Extract<Reading, { is: "frame" }> | undefined {
  let left = Math.max(LEAST_TRIED_BYTES, text.length * 2);
  for (let at = text.indexOf("{"); at !== -1 && left > 0; at = text.indexOf("{", at + 1)) {
    left -= text.length - at;
    const frame = tryFrame(text.slice(at));
    if (frame !== undefined && (awaited.includes(frame.id) || frame.id === UNKNOWN_ID)) return frame;
  }
  return undefined;
}

function tryParse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined; // a line that is no JSON is something that the plugin printed
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whose answer a line over the limit was; undefined when neither end tells. */
export function findCutId({ head, tail }: CutLine, awaited: readonly string[]): string | undefined {
  const ends = [tail.toString("latin1"), head.toString("latin1")];
  return awaited.find((id) => ends.some((end) => end.includes(`"${id}"`)));
}

/** Whether it may have been an answer at all. */
export function looksLikeFrame({ head }: CutLine): boolean {
  return head.toString("latin1").trimStart().startsWith("{");
}
