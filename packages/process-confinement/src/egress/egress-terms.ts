import { isAbsolute } from "node:path";
import { ConfinementError } from "../errors.js";
import type { EgressDecision, EgressLimits, EgressOptions } from "./egress.js";
import { type HostRules, readRules } from "./host-rules.js";

/** EgressLimits with defaults filled in. */
export type EgressBounds = { readonly [Name in keyof EgressLimits]-?: number };

/** EgressOptions with defaults filled in; the only form that internal code sees. */
export interface EgressTerms {
  readonly socket: string;
  readonly rules: HostRules;
  readonly tell: (decision: EgressDecision) => void;
  readonly resolve: ((host: string, signal: AbortSignal) => Promise<readonly string[]>) | undefined;
  readonly bounds: EgressBounds;
  readonly signal: AbortSignal | undefined;
}

const optionNames = ["socket", "allow", "onDecision", "resolve", "limits", "signal"];
/** Least, most, default. */
const ranges: { readonly [Name in keyof EgressBounds]: readonly [number, number, number] } = {
  maxConnections: [1, 4_096, 64],
  maxHeadBytes: [1_024, 65_536, 16_384],
  headTimeoutMs: [100, 60_000, 10_000],
  connectTimeoutMs: [100, 120_000, 15_000],
  idleTimeoutMs: [1_000, 3_600_000, 300_000],
};
// sockaddr_un holds 108 bytes with the closing zero; a longer path would be cut, and a socket made elsewhere.
const maxSocketBytes = 107;

/** @throws {ConfinementError} `SANDBOX_OPTION_INVALID`, `EGRESS_RULE_INVALID`. */
export function readEgressOptions(options: EgressOptions): EgressTerms {
  refuseUnknown("", options, optionNames);
  const limits = options.limits ?? {};
  refuseUnknown("limits.", limits, Object.keys(ranges));
  return {
    socket: readSocket(options.socket),
    rules: readRules(options.allow),
    tell: options.onDecision ?? (() => {}),
    resolve: options.resolve,
    bounds: {
      maxConnections: readLimit("maxConnections", limits),
      maxHeadBytes: readLimit("maxHeadBytes", limits),
      headTimeoutMs: readLimit("headTimeoutMs", limits),
      connectTimeoutMs: readLimit("connectTimeoutMs", limits),
      idleTimeoutMs: readLimit("idleTimeoutMs", limits),
    },
    signal: options.signal,
  };
}

function readLimit(name: keyof EgressBounds, limits: EgressLimits): number {
  const [least, most, otherwise] = ranges[name];
  const value = limits[name] ?? otherwise;
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalid(`limits.${name}`, `${name} must be an integer from ${least} to ${most}, not ${value}`);
}

function readSocket(path: string): string {
  if (typeof path !== "string" || !isAbsolute(path) || path.includes("\0"))
    throw invalid("socket", "socket must be an absolute path");
  const bytes = Buffer.byteLength(path);
  if (bytes <= maxSocketBytes) return path;
  throw invalid("socket", `socket has ${bytes} bytes; a unix socket's path has at most ${maxSocketBytes}`);
}

function refuseUnknown(prefix: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw invalid(`${prefix}${unknown}`, `unknown option "${unknown}"; known: ${known.join(", ")}`);
}

function invalid(field: string, message: string): ConfinementError {
  return new ConfinementError("SANDBOX_OPTION_INVALID", message, { field });
}
