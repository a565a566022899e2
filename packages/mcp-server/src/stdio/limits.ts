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
  /** How long work under way has when the server stops, in milliseconds: 0 to 600_000. Default 5_000. */
  readonly drainMs?: number | undefined;
}
/** With defaults filled in. */
export type StdioBounds = { readonly [Name in keyof StdioServerLimits]-?: number };

const ranges = {
  maxFrameBytes: [1_024, 67_108_864, 4_194_304],
  maxSentFrameBytes: [1_024, 67_108_864, 16_777_216],
  maxInFlight: [1, 65_536, 64],
  maxQueued: [1, 65_536, 256],
  maxQueuedBytes: [1_024, 1_073_741_824, 8_388_608],
  maxBadLines: [1, 65_536, 16],
  drainMs: [0, 600_000, 5_000],
} as const satisfies Record<keyof StdioServerLimits, readonly [number, number, number]>;

/** @throws {RangeError} for a limit out of its range, {TypeError} for one that does not exist. */
export function readBounds(limits: StdioServerLimits | undefined): StdioBounds {
  for (const name of Object.keys(limits ?? {}))
    if (!(name in ranges)) throw new TypeError(`there is no limit "${name}"`);
  const read = (name: keyof StdioServerLimits): number => {
    const [min, max, preset] = ranges[name];
    const value = limits?.[name] ?? preset;
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new RangeError(`${name} is ${value}; it has to be a whole number from ${min} to ${max}`);
  };
  return {
    maxFrameBytes: read("maxFrameBytes"),
    maxSentFrameBytes: read("maxSentFrameBytes"),
    maxInFlight: read("maxInFlight"),
    maxQueued: read("maxQueued"),
    maxQueuedBytes: read("maxQueuedBytes"),
    maxBadLines: read("maxBadLines"),
    drainMs: read("drainMs"),
  };
}
