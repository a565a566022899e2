import type { FieldFault } from "../errors.js";
import { readMembers } from "../reading/members.js";

/** Bounds of what one guest may cost the host. */
export interface GuestLimits {
  /** What `run` keeps of stdout and of stderr, each: 0 to 64 MiB. Default 1 MiB. What is over it is read, counted and dropped. */
  readonly maxOutputBytes?: number | undefined;
  /** Processes, terminals and requests of one environment that the host follows at once: 1 to 4_096. Default 256. */
  readonly maxOpen?: number | undefined;
  /** From asking the agent to the started process: 100 to 600_000 ms. Default 10_000. */
  readonly startTimeoutMs?: number | undefined;
  /** Streams that were connected and have not said yet what they are: 1 to 1_024. Default 32. */
  readonly maxPendingStreams?: number | undefined;
  /** How long such a stream may be silent: 10 to 60_000 ms. Default 5_000. */
  readonly streamTimeoutMs?: number | undefined;
  /** Streams with a wrong token, silent or too many, after which the environment is ended: 1 to 1_000_000. Default 1_000. */
  readonly maxRefusedStreams?: number | undefined;
  /** Environments that start at once; the others wait for their turn: 1 to 1_024. Default 8. */
  readonly maxStarts?: number | undefined;
  /** After a command has ended, how long what it left behind may hold its output open: 0 to 60_000 ms. Default 200. */
  readonly drainMs?: number | undefined;
}

/** GuestLimits with defaults filled in. */
export type GuestBounds = { readonly [Name in keyof GuestLimits]-?: number };

const ranges = {
  maxOutputBytes: { min: 0, max: 64 * 1024 * 1024, preset: 1024 * 1024 },
  maxOpen: { min: 1, max: 4096, preset: 256 },
  startTimeoutMs: { min: 100, max: 600_000, preset: 10_000 },
  maxPendingStreams: { min: 1, max: 1024, preset: 32 },
  streamTimeoutMs: { min: 10, max: 60_000, preset: 5000 },
  maxRefusedStreams: { min: 1, max: 1_000_000, preset: 1000 },
  maxStarts: { min: 1, max: 1024, preset: 8 },
  drainMs: { min: 0, max: 60_000, preset: 200 },
} as const satisfies Record<keyof GuestLimits, { min: number; max: number; preset: number }>;

/** Reads what a caller passed; notes every member at fault. */
export function collectGuestLimits(limits: GuestLimits, faults: FieldFault[]): GuestBounds {
  const given = readMembers(limits, "limits", Object.keys(ranges), faults);
  const read = (name: keyof GuestLimits): number => given?.whole(name, ranges[name]) ?? ranges[name].preset;
  return {
    maxOutputBytes: read("maxOutputBytes"),
    maxOpen: read("maxOpen"),
    startTimeoutMs: read("startTimeoutMs"),
    maxPendingStreams: read("maxPendingStreams"),
    streamTimeoutMs: read("streamTimeoutMs"),
    maxRefusedStreams: read("maxRefusedStreams"),
    maxStarts: read("maxStarts"),
    drainMs: read("drainMs"),
  };
}
