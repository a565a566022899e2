import { isFramingError, type JsonObject, type JsonValue, readMessage } from "@berth/jsonrpc-framing";
import { canonicalText } from "./canonical-text.js";
import { maxTranscriptBytes, maxTranscriptLines, type Transcript, type TranscriptHeader } from "./transcript.js";

/** What reading a transcript gives: `line` counts from 1. */
export type TranscriptReading =
  | { readonly ok: true; readonly transcript: Transcript }
  | { readonly ok: false; readonly line: number; readonly problem: string };

const headerKeys = ["title", "spec", "outcome"];

/**
 * Reads `expected.jsonl`. Each line is brought into its canonical form, so that whoever edits one by hand need not care for order
 * and spaces; a line that is canonical stays as it is.
 */
export function readTranscript(text: string): TranscriptReading {
  if (Buffer.byteLength(text) > maxTranscriptBytes) return fault(1, `it has more than ${maxTranscriptBytes} bytes`);
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (lines.length > maxTranscriptLines)
    return fault(maxTranscriptLines, `it has more than ${maxTranscriptLines} lines`);
  let header: TranscriptHeader | undefined;
  const read: string[] = [];
  for (const [index, line] of lines.entries()) {
    const value = tryParse(line);
    if (index === 0 && isHeader(value)) header = value;
    else if (isEntry(value)) read.push(canonicalText(value));
    else return fault(index + 1, 'it is no {"dir":"host"|"plugin","msg":{…}} and no {"dir","raw":"…"}');
  }
  return { ok: true, transcript: { header, lines: read } };
}

function fault(line: number, problem: string): TranscriptReading {
  return { ok: false, line, problem };
}

function tryParse(line: string): JsonValue | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // told as a line that is no entry
  }
}

function isHeader(value: JsonValue | undefined): value is JsonObject & TranscriptHeader {
  if (!isObject(value)) return false;
  const members = Object.entries(value);
  return members.length > 0 && members.every(([key, each]) => headerKeys.includes(key) && typeof each === "string");
}

function isEntry(value: JsonValue | undefined): value is JsonObject {
  if (!isObject(value) || Object.keys(value).length !== 2) return false;
  const { dir, msg, raw } = value;
  return (dir === "host" || dir === "plugin") && (typeof raw === "string" || isMessage(msg));
}

/** Its nesting is bounded too, which writing it again rests on. */
function isMessage(value: JsonValue | undefined): boolean {
  try {
    readMessage(value);
    return true;
  } catch (error) {
    if (isFramingError(error)) return false;
    throw error;
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
