import { ChainError } from "./errors.js";

const timeForm = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
// 9999-12-31T23:59:59.999Z: up to there all times have one length, and so sort as text.
const lastMs = 253_402_300_799_999;

/** Whether a value is a time as this package writes it: RFC 3339, UTC, milliseconds. Such times sort as text. */
export function isTime(value: unknown): value is string {
  return typeof value === "string" && timeForm.test(value);
}

/** The clocks of a writer, in milliseconds. */
export interface Clocks {
  now(): number;
  monotonic?(): number;
}

/** The clocks at one entry. */
export interface Reading {
  readonly time: string;
  readonly wallMs: number;
  /** Of the monotonic clock; undefined without one, and for an entry of an earlier writer. */
  readonly steadyMs: number | undefined;
  /** How the clock stepped since the entry before; see `EntryBody.clock`. */
  readonly clock: "back" | "stepped" | undefined;
}

/** What is known of the time of an entry that was read back. */
export function readingOf(time: string): Reading {
  return { time, wallMs: Date.parse(time), steadyMs: undefined, clock: undefined };
}

/** Whether a clock's reading in milliseconds since 1970 is a time that a log can bear. */
export function isWallTime(ms: unknown): ms is number {
  return typeof ms === "number" && ms >= 0 && ms <= lastMs;
}

/**
 * Reads the clocks and compares them with the entry before, if there is one.
 * @throws {ChainError} `ENTRY_INVALID` when the wall clock is not within 1970 to 9999; and what a clock throws.
 */
export function readClocks(clocks: Clocks, before: Reading | undefined): Reading {
  const wallMs = Math.floor(clocks.now());
  if (!isWallTime(wallMs)) {
    throw new ChainError("ENTRY_INVALID", `the clock reads ${wallMs}, which is not a time from 1970 to 9999`);
  }
  const steadyMs = clocks.monotonic?.();
  const time = before === undefined ? new Date(wallMs).toISOString() : timeText(wallMs, before);
  return { time, wallMs, steadyMs, clock: stepOf(wallMs, steadyMs, before) };
}

/** Entries of one second share all but the milliseconds: making the whole costs more than hashing an entry. */
function timeText(wallMs: number, before: Reading): string {
  if (wallMs === before.wallMs) return before.time;
  const ofSecond = wallMs % 1_000;
  if (wallMs - ofSecond !== before.wallMs - (before.wallMs % 1_000)) return new Date(wallMs).toISOString();
  return `${before.time.slice(0, -4)}${String(ofSecond).padStart(3, "0")}Z`;
}

function stepOf(wallMs: number, steadyMs: number | undefined, before: Reading | undefined): Reading["clock"] {
  if (before === undefined) return undefined;
  if (wallMs < before.wallMs) return "back";
  if (steadyMs === undefined || before.steadyMs === undefined) return undefined;
  const steadyElapsed = steadyMs - before.steadyMs;
  const difference = Math.abs(wallMs - before.wallMs - steadyElapsed);
  // A second, and a thousandth for the slewing that NTP does (at most 500 ppm).
  return difference > 1_000 + steadyElapsed / 1_000 ? "stepped" : undefined;
}
