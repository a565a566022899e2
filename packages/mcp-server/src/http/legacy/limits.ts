import { type Bounds, type LimitRanges, limitReader } from "../../limit-reader.js";

/** What bounds sessions and their streams. */
export interface SessionLimits {
  /** How long a session may lie idle before it is ended, in milliseconds: 1_000 to 86_400_000. Default 1_800_000. One with an open stream or a request under way is not idle. */
  readonly idleMs?: number | undefined;
  /** Open sessions: 1 to 1_000_000. Default 10_000. Above: 503 with `retry-after`. */
  readonly maxSessions?: number | undefined;
  /** Open sessions of one principal: 1 to 1_000_000. Default 1_000. Above: its longest idle one is ended; 503 when none is idle. */
  readonly maxSessionsPerPrincipal?: number | undefined;
  /** Requests under way in all sessions, also those whose client is gone: 1 to 1_000_000. Default 10_000. Above: 503 with `retry-after`. */
  readonly maxRequests?: number | undefined;
  /** Requests under way in one session: 1 to 65_536. Default 1_024. Above: 503 with `retry-after`. */
  readonly maxRequestsPerSession?: number | undefined;
  /** After this time without an answer it becomes a stream, in milliseconds: 1 to 600_000. Default 1_000. */
  readonly streamAfterMs?: number | undefined;
  /** When the client is to come back after a stream broke or was let go of, in milliseconds: 0 to 600_000. Default 1_000. */
  readonly retryMs?: number | undefined;
  /** Bytes of one stream that its client has not taken: 1_024 to 67_108_864. Default 4 MiB. Above: notifications are left out; for anything else the stream ends. */
  readonly maxStreamBytes?: number | undefined;
  /** Streams that are being sent again from an event store, in all sessions: 1 to 65_536. Default 256. Above: 503 with `retry-after`. */
  readonly maxReplays?: number | undefined;
  /** The same of one session: 1 to 1_024. Default 8. Above: 503 with `retry-after`. A stream that is asked for again takes the place of itself. */
  readonly maxReplaysPerSession?: number | undefined;
  /** Messages of one session that belong to no request and wait for a GET stream: 1 to 65_536. Default 256. Above: notifications are left out, the oldest first. */
  readonly maxWaiting?: number | undefined;
  /** Their bytes: 1_024 to 67_108_864. Default 65_536. */
  readonly maxWaitingBytes?: number | undefined;
}
/** With defaults filled in. */
export type SessionBounds = Bounds<SessionLimits>;

const ranges = {
  idleMs: { min: 1_000, max: 86_400_000, preset: 1_800_000 },
  maxSessions: { min: 1, max: 1_000_000, preset: 10_000 },
  maxSessionsPerPrincipal: { min: 1, max: 1_000_000, preset: 1_000 },
  maxRequests: { min: 1, max: 1_000_000, preset: 10_000 },
  maxRequestsPerSession: { min: 1, max: 65_536, preset: 1_024 },
  streamAfterMs: { min: 1, max: 600_000, preset: 1_000 },
  retryMs: { min: 0, max: 600_000, preset: 1_000 },
  maxStreamBytes: { min: 1_024, max: 67_108_864, preset: 4_194_304 },
  maxReplays: { min: 1, max: 65_536, preset: 256 },
  maxReplaysPerSession: { min: 1, max: 1_024, preset: 8 },
  maxWaiting: { min: 1, max: 65_536, preset: 256 },
  maxWaitingBytes: { min: 1_024, max: 67_108_864, preset: 65_536 },
} as const satisfies LimitRanges<SessionLimits>;

/** @throws {RangeError} for a limit out of its range, {TypeError} for one that does not exist. */
export function readSessionBounds(limits: SessionLimits | undefined): SessionBounds {
  const read = limitReader(limits, ranges);
  return {
    idleMs: read("idleMs"),
    maxSessions: read("maxSessions"),
    maxSessionsPerPrincipal: read("maxSessionsPerPrincipal"),
    maxRequests: read("maxRequests"),
    maxRequestsPerSession: read("maxRequestsPerSession"),
    streamAfterMs: read("streamAfterMs"),
    retryMs: read("retryMs"),
    maxStreamBytes: read("maxStreamBytes"),
    maxReplays: read("maxReplays"),
    maxReplaysPerSession: read("maxReplaysPerSession"),
    maxWaiting: read("maxWaiting"),
    maxWaitingBytes: read("maxWaitingBytes"),
  };
}
