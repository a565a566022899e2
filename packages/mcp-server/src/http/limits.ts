import { type Bounds, type LimitRanges, limitReader } from "../limit-reader.js";

/** What bounds serving over HTTP. Each is a whole number. */
export interface HttpServerLimits {
  /** Largest body, in bytes: 1_024 to 67_108_864. Default 4 MiB. Above: 413. */
  readonly maxBodyBytes?: number | undefined;
  /** Bytes of all bodies that are being read, together, beyond the first 16 KiB of each: 1_024 to 4_294_967_296. Default 64 MiB. Above: 503. */
  readonly maxBufferedBytes?: number | undefined;
  /** How long a body may take to come in, in milliseconds: 10 to 3_600_000. Default 30_000. Then 408, and the connection is closed. */
  readonly bodyMs?: number | undefined;
  /** Requests whose sender is being admitted, or whose body is being read: 1 to 1_048_576. Default 4_096. Above: 503. */
  readonly maxReading?: number | undefined;
  /** Requests that are worked on, or whose answers have not left: 1 to 1_048_576. Default 1_024. Above: 503. Open listen requests do not count. */
  readonly maxInFlight?: number | undefined;
  /**
   * Bytes of the bodies of requests that are worked on, in either era, together, beyond the first 16 KiB of each: 1_024 to 4_294_967_296. Default 32 MiB: what is made of
   * a body can take ten times its size. Above: 503.
   */
  readonly maxInFlightBytes?: number | undefined;
  /** Requests of one connection that are worked on before the first of them is answered (pipelining): 1 to 1_024. Default 8. The next ones wait. Over Node's `http` only. */
  readonly maxPipelined?: number | undefined;
  /** Open `subscriptions/listen` requests of 2026-07-28: 1 to 1_048_576. Default 1_024. Above: 503. */
  readonly maxListens?: number | undefined;
  /** Time between two comments that keep a stream open, of either era, in milliseconds: 10 to 3_600_000. Default 15_000. */
  readonly keepAliveMs?: number | undefined;
  /**
   * Bytes that a client has not read of its stream, from which on notifications are left out: 1_024 to 1_073_741_824. Default 1 MiB.
   * A stream that is still above after `deliveryMs` is cut off, and at once one that would have to be sent what cannot be left out. Also the bytes of answers that a
   * connection has not read, from which on its next request waits.
   */
  readonly maxUnreadBytes?: number | undefined;
  /**
   * Bytes of all answers that have not left, together: 1_024 to 68_719_476_736. Default 256 MiB. Above: 503, notifications to streams that are not read are left out, and
   * those streams are cut off that would have to be sent what cannot be left out.
   */
  readonly maxUnsentBytes?: number | undefined;
  /**
   * How long a client may take to read what it was sent, in milliseconds: 10 to 3_600_000. Default 60_000. Then its connection is cut off; that of a
   * session's stream when it has taken nothing in that time, rounded up to whole `keepAliveMs`.
   */
  readonly deliveryMs?: number | undefined;
  /** How long requests under way have when the server closes, in milliseconds: 0 to 600_000. Default 5_000. Then they get -32603. */
  readonly drainMs?: number | undefined;
}
/** With defaults filled in. */
export type HttpBounds = Bounds<HttpServerLimits>;

const ranges = {
  maxBodyBytes: { min: 1_024, max: 67_108_864, preset: 4_194_304 },
  maxBufferedBytes: { min: 1_024, max: 4_294_967_296, preset: 67_108_864 },
  bodyMs: { min: 10, max: 3_600_000, preset: 30_000 },
  maxReading: { min: 1, max: 1_048_576, preset: 4_096 },
  maxInFlight: { min: 1, max: 1_048_576, preset: 1_024 },
  maxInFlightBytes: { min: 1_024, max: 4_294_967_296, preset: 33_554_432 },
  maxPipelined: { min: 1, max: 1_024, preset: 8 },
  maxListens: { min: 1, max: 1_048_576, preset: 1_024 },
  keepAliveMs: { min: 10, max: 3_600_000, preset: 15_000 },
  maxUnreadBytes: { min: 1_024, max: 1_073_741_824, preset: 1_048_576 },
  maxUnsentBytes: { min: 1_024, max: 68_719_476_736, preset: 268_435_456 },
  deliveryMs: { min: 10, max: 3_600_000, preset: 60_000 },
  drainMs: { min: 0, max: 600_000, preset: 5_000 },
} as const satisfies LimitRanges<HttpServerLimits>;

/** @throws {RangeError} for a limit out of its range, {TypeError} for one that does not exist. */
export function readHttpBounds(limits: HttpServerLimits | undefined): HttpBounds {
  const read = limitReader(limits, ranges);
  return {
    maxBodyBytes: read("maxBodyBytes"),
    maxBufferedBytes: read("maxBufferedBytes"),
    bodyMs: read("bodyMs"),
    maxReading: read("maxReading"),
    maxInFlight: read("maxInFlight"),
    maxInFlightBytes: read("maxInFlightBytes"),
    maxPipelined: read("maxPipelined"),
    maxListens: read("maxListens"),
    keepAliveMs: read("keepAliveMs"),
    maxUnreadBytes: read("maxUnreadBytes"),
    maxUnsentBytes: read("maxUnsentBytes"),
    deliveryMs: read("deliveryMs"),
    drainMs: read("drainMs"),
  };
}

/** What bounds the connections of a server of its own. */
export interface ListeningLimits {
  /** Open connections: 1 to 1_048_576. Default 16_384. Above: closed at once. */
  readonly maxConnections?: number | undefined;
  /** How long the head of a request may take, in milliseconds: 10 to 600_000. Default 10_000. Then 408. */
  readonly headersMs?: number | undefined;
  /** Largest head of a request, in bytes: 1_024 to 1_048_576. Default 16_384. Above: 431. */
  readonly maxHeaderBytes?: number | undefined;
  /** How long a connection is kept between two requests, in milliseconds: 10 to 3_600_000. Default 60_000. */
  readonly idleMs?: number | undefined;
}
/** With defaults filled in. */
export type ListeningBounds = Bounds<ListeningLimits>;

const listeningRanges = {
  maxConnections: { min: 1, max: 1_048_576, preset: 16_384 },
  headersMs: { min: 10, max: 600_000, preset: 10_000 },
  maxHeaderBytes: { min: 1_024, max: 1_048_576, preset: 16_384 },
  idleMs: { min: 10, max: 3_600_000, preset: 60_000 },
} as const satisfies LimitRanges<ListeningLimits>;

/** @throws {RangeError} for a limit out of its range, {TypeError} for one that does not exist. */
export function readListeningBounds(limits: ListeningLimits | undefined): ListeningBounds {
  const read = limitReader(limits, listeningRanges);
  return {
    maxConnections: read("maxConnections"),
    headersMs: read("headersMs"),
    maxHeaderBytes: read("maxHeaderBytes"),
    idleMs: read("idleMs"),
  };
}
