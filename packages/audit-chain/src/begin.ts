import { hashForm } from "./line.js";
import { isTime } from "./time.js";

/** The first line of each segment: what the format is, whose log it is, and which part of it. */
export interface BeginRecord {
  /** 1. A reader that does not know the number must not guess. */
  readonly format: number;
  readonly algorithm: "sha256";
  readonly logId: string;
  /** Hash of the last line of the segment before; 64 zeros in the first. */
  readonly prev: string;
  /** From 1, without gaps. */
  readonly segment: number;
  /** Sequence number of the first entry to follow. */
  readonly seq: number;
  readonly time: string;
}

const memberCount = 7;

/** The format that this package writes and reads. */
export const currentFormat = 1;

const logIdForm = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;

/** Whether a text may name a log. */
export function isLogId(text: string): boolean {
  return logIdForm.test(text);
}

const isPosition = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 1;

type Members = { readonly [Name in keyof BeginRecord]?: unknown };

/** Whether a parsed body says which format it has; what else is in it depends on that. */
export function hasFormat(value: unknown): value is { readonly format: number } {
  return typeof value === "object" && value !== null && "format" in value && isPosition(value.format);
}

/** Whether a parsed body is the beginning of a segment in the current format. */
export function isBeginRecord(value: unknown): value is BeginRecord {
  if (typeof value !== "object" || value === null) return false;
  const { format, algorithm, logId, prev, segment, seq, time }: Members = value;
  return (
    Object.keys(value).length === memberCount &&
    format === currentFormat &&
    algorithm === "sha256" &&
    typeof logId === "string" &&
    isLogId(logId) &&
    typeof prev === "string" &&
    hashForm.test(prev) &&
    isPosition(segment) &&
    isPosition(seq) &&
    isTime(time)
  );
}

/** Name of the file of a segment whose first entry has this number. Names sort as the numbers do. */
export function segmentName(firstSequence: number): string {
  return `${String(firstSequence).padStart(16, "0")}.jsonl`;
}

/** The number in a segment's file name; undefined for other names. */
export function firstSequenceOf(name: string): number | undefined {
  return /^\d{16}\.jsonl$/.test(name) ? Number(name.slice(0, 16)) : undefined;
}
