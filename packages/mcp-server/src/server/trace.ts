import type { JsonObject } from "@berth/jsonrpc-framing";

/** Where a request stands in a distributed trace, as its sender says: W3C Trace Context, checked. Anybody can send anything here, so decide nothing by it. */
export interface TraceContext {
  /** As it came, up to its four known fields (Trace Context § 3.2). */
  readonly traceparent: string;
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** The sender's span: 16 lower-case hexadecimal digits, not all zero. */
  readonly parentId: string;
  /** The eight flags; bit 0 says that the sender records. */
  readonly flags: number;
  /** Trace Context § 3.3, as it came. Absent when it is not valid. */
  readonly tracestate: string | undefined;
  /** W3C Baggage § 3.2, as it came. Absent when it is not valid. */
  readonly baggage: string | undefined;
  /** `meta`: `params._meta` of the message. `http`: the headers of the request that carried it. */
  readonly source: "meta" | "http";
}

const maxTraceparentLength = 512;
/** Also what Baggage § 3.3.2 allows its header to be. */
const maxListLength = 8_192;
const maxStateMembers = 32;
const maxBaggageMembers = 180;

/**
 * The trace of a request: from `params._meta` (MCP 2026-07-28, `_meta`: the three keys without prefix), or else from the headers; undefined
 * when neither has a valid `traceparent`. State and baggage come from where the parent came from.
 */
export function readTrace(
  meta: JsonObject,
  headers: ((name: string) => string | undefined) | undefined,
): TraceContext | undefined {
  return parse((name) => meta[name], "meta") ?? (headers === undefined ? undefined : parse(headers, "http"));
}

type FieldName = "traceparent" | "tracestate" | "baggage";

function parse(read: (name: FieldName) => unknown, source: TraceContext["source"]): TraceContext | undefined {
  const given = read("traceparent");
  if (typeof given !== "string" || given.length > maxTraceparentLength) return undefined;
  const [traceparent, version, traceId, parentId, flags] = parentPattern.exec(given) ?? [];
  if (traceparent === undefined || traceId === undefined || parentId === undefined || flags === undefined)
    return undefined;
  // Version 00 has nothing after its flags; what a later version adds is skipped (§ 3.2.4). ff is no version.
  if (version === "ff" || (version === "00" && given !== traceparent)) return undefined;
  if (zeros.test(traceId) || zeros.test(parentId)) return undefined;
  return {
    traceparent,
    traceId,
    parentId,
    flags: Number.parseInt(flags, 16),
    tracestate: readList(read("tracestate"), maxStateMembers, stateMember),
    baggage: readList(read("baggage"), maxBaggageMembers, baggageMember),
    source,
  };
}
const parentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?![^-])/;
const zeros = /^0+$/;

/** A list as it came, if it is short enough and each member is well formed. Empty members are allowed (Trace Context § 3.3.1). */
function readList(value: unknown, maxMembers: number, member: RegExp): string | undefined {
  if (typeof value !== "string" || value.length > maxListLength) return undefined;
  let count = 0;
  for (const part of value.split(",")) {
    if (blank.test(part)) continue;
    if (++count > maxMembers || !member.test(part)) return undefined;
  }
  return count === 0 ? undefined : value;
}
const blank = /^[ \t]*$/;
// No two neighbours in these can match the same character, so they are matched in linear time.
const stateMember = /^[ \t]*[a-z0-9][a-z0-9_\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~][ \t]*$/;
const baggageMember =
  /^[ \t]*[!#-'*+\-.^_`|~0-9A-Za-z]+[ \t]*=[ \t]*[!#-+\--:<-[\]-~]*(?:[ \t]*;[ \t]*[!#-'*+\-.^_`|~0-9A-Za-z]+(?:[ \t]*=[ \t]*[!#-+\--:<-[\]-~]*)?)*[ \t]*$/;
