import { readChoice, readNumber } from "./read-options.js";
import type { TransportLimits } from "./transport.js";

/** TransportLimits with defaults filled in; the only form that internal code sees. */
export interface TransportTerms {
  readonly maxFrameBytes: number;
  readonly maxQueuedBytes: number;
  readonly eagerBytes: number;
  readonly oversize: "fail" | "skip";
  readonly unterminated: "reject" | "accept";
}

/** The names of TransportLimits. */
export const transportLimitNames: readonly string[] = [
  "maxFrameBytes",
  "maxQueuedBytes",
  "eagerBytes",
  "oversize",
  "unterminated",
];

/** @throws {StdioTransportError} `OPTION_INVALID`. */
export function readTransportLimits(limits: TransportLimits): TransportTerms {
  return {
    maxFrameBytes: readNumber("maxFrameBytes", limits.maxFrameBytes, {
      least: 1_024,
      most: 67_108_864,
      otherwise: 16_777_216,
    }),
    maxQueuedBytes: readNumber("maxQueuedBytes", limits.maxQueuedBytes, {
      least: 1_024,
      most: 1_073_741_824,
      otherwise: 33_554_432,
    }),
    eagerBytes: readNumber("eagerBytes", limits.eagerBytes, { least: 0, most: 65_536, otherwise: 4_096 }),
    oversize: readChoice("oversize", limits.oversize, ["skip", "fail"]),
    unterminated: readChoice("unterminated", limits.unterminated, ["reject", "accept"]),
  };
}
