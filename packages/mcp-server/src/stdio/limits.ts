import { type Bounds, type LimitRanges, limitReader } from "../limit-reader.js";

/** What bounds a stdio server. */
export interface StdioServerLimits {
  /** Largest message received, in bytes: 1_024 to 67_108_864. Default 4 MiB. Above: skipped in constant memory and refused with -32600. */
  readonly maxFrameBytes?: number | undefined;
  /** Largest message sent, in bytes: 1_024 to 67_108_864. Default 16 MiB. Above: the client gets -32603 instead. */
  readonly maxSentFrameBytes?: number | undefined;
  /** Requests that are worked on at a time: 1 to 65_536. Default 64. Open listen requests do not count. */
  readonly maxInFlight?: number | undefined;
  /** Requests, or messages to be sent, that wait before reading stops: 1 to 65_536. Default 256. */
  readonly maxQueued?: number | undefined;
  /** Bytes to be sent that wait before reading stops, and before notifications are dropped: 1_024 to 1_073_741_824. Default 8 MiB. */
  readonly maxQueuedBytes?: number | undefined;
  /** Lines in a row that are no messages, after which the server stops: 1 to 65_536. Default 16. */
  readonly maxBadLines?: number | undefined;
  /**
   * How long work under way has when the client has ended its input, before it is aborted, in milliseconds: 0 to 600_000. Default 0. What was asked of the client fails at
   * once, and an abort of `signal` ends the wait.
   */
  readonly endOfInputMs?: number | undefined;
  /** How long work under way has when the server stops, in milliseconds: 0 to 600_000. Default 5_000. */
  readonly drainMs?: number | undefined;
}
/** With defaults filled in. */
export type StdioBounds = Bounds<StdioServerLimits>;

const ranges = {
  maxFrameBytes: { min: 1_024, max: 67_108_864, preset: 4_194_304 },
  maxSentFrameBytes: { min: 1_024, max: 67_108_864, preset: 16_777_216 },
  maxInFlight: { min: 1, max: 65_536, preset: 64 },
  maxQueued: { min: 1, max: 65_536, preset: 256 },
  maxQueuedBytes: { min: 1_024, max: 1_073_741_824, preset: 8_388_608 },
  maxBadLines: { min: 1, max: 65_536, preset: 16 },
  endOfInputMs: { min: 0, max: 600_000, preset: 0 },
  drainMs: { min: 0, max: 600_000, preset: 5_000 },
} as const satisfies LimitRanges<StdioServerLimits>;

/** @throws {RangeError} for a limit out of its range, {TypeError} for one that does not exist. */
export function readBounds(limits: StdioServerLimits | undefined): StdioBounds {
  const read = limitReader(limits, ranges);
  return {
    maxFrameBytes: read("maxFrameBytes"),
    maxSentFrameBytes: read("maxSentFrameBytes"),
    maxInFlight: read("maxInFlight"),
    maxQueued: read("maxQueued"),
    maxQueuedBytes: read("maxQueuedBytes"),
    maxBadLines: read("maxBadLines"),
    endOfInputMs: read("endOfInputMs"),
    drainMs: read("drainMs"),
  };
}
