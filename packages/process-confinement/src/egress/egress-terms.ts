import { createReader, type Range, type ValueReader } from "../reading/read-values.js";
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
const ranges: { readonly [Name in keyof EgressBounds]: Range & { readonly usual: number } } = {
  maxConnections: { least: 1, most: 4_096, usual: 64 },
  maxHeadBytes: { least: 1_024, most: 65_536, usual: 16_384 },
  headTimeoutMs: { least: 100, most: 60_000, usual: 10_000 },
  connectTimeoutMs: { least: 100, most: 120_000, usual: 15_000 },
  idleTimeoutMs: { least: 1_000, most: 3_600_000, usual: 300_000 },
};
// sockaddr_un holds 108 bytes with the closing zero; a longer path would be cut, and a socket made elsewhere.
const maxSocketBytes = 107;

/** @throws {ConfinementError} `SANDBOX_OPTION_INVALID`, `EGRESS_RULE_INVALID`. */
export function readEgressOptions(options: EgressOptions): EgressTerms {
  const reader = createReader("SANDBOX_OPTION_INVALID");
  reader.refuseUnknown("", reader.object("options", options), optionNames);
  const limits = options.limits ?? {};
  reader.refuseUnknown("limits", reader.object("limits", limits), Object.keys(ranges));
  const limit = (name: keyof EgressBounds): number =>
    reader.integer(`limits.${name}`, limits[name] ?? ranges[name].usual, ranges[name]);
  return {
    socket: readSocket(reader, options.socket),
    rules: readRules(options.allow),
    tell: reader.callback("onDecision", options.onDecision) ?? (() => {}),
    resolve: reader.callback("resolve", options.resolve),
    bounds: {
      maxConnections: limit("maxConnections"),
      maxHeadBytes: limit("maxHeadBytes"),
      headTimeoutMs: limit("headTimeoutMs"),
      connectTimeoutMs: limit("connectTimeoutMs"),
      idleTimeoutMs: limit("idleTimeoutMs"),
    },
    signal: options.signal,
  };
}

function readSocket(reader: ValueReader, value: unknown): string {
  const path = reader.path("socket", value);
  if (Buffer.byteLength(path) <= maxSocketBytes) return path;
  return reader.fail("socket", `at most ${maxSocketBytes} bytes long, as a unix socket's path`, path);
}
