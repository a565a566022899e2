import {
  type Baggage,
  type BaggageEntry,
  type Context,
  createTraceState,
  isSpanContextValid,
  type Link,
  propagation,
  type SpanContext,
  trace,
} from "@opentelemetry/api";
import type { TraceContext } from "../server/trace.js";

/** Below which context a request's span begins, and to what it is linked. */
export interface Parentage {
  readonly parent: Context;
  readonly links: readonly Link[];
}

/**
 * The sender's span is the parent, and the span that is active here is linked (OpenTelemetry semantic conventions for MCP, Context propagation). What came by
 * HTTP headers is an exception where an instrumentation of HTTP is active: its span is the sender's child, and so ours is its child.
 */
export function parentOf(given: TraceContext | undefined, active: Context): Parentage {
  const ambient = trace.getSpanContext(active);
  const isTraced = ambient !== undefined && isSpanContextValid(ambient);
  if (given === undefined || (isTraced && given.source === "http")) return { parent: active, links: [] };
  const baggage = given.baggage === undefined ? undefined : readBaggage(given.baggage);
  const base = baggage === undefined ? active : propagation.setBaggage(active, baggage);
  return {
    parent: trace.setSpanContext(base, spanContextOf(given)),
    links: isTraced ? [{ context: ambient }] : [],
  };
}

function spanContextOf({ traceId, parentId, flags, tracestate }: TraceContext): SpanContext {
  return {
    traceId,
    spanId: parentId,
    traceFlags: flags,
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  };
}

/** Members whose values cannot be decoded are left out (W3C Baggage § 3.2.1.2). Properties are not kept. */
function readBaggage(text: string): Baggage {
  const entries: Record<string, BaggageEntry> = Object.create(null);
  for (const member of text.split(",")) {
    const [pair = ""] = member.split(";", 1);
    const at = pair.indexOf("=");
    if (at < 0) continue;
    const value = tryDecode(pair.slice(at + 1).trim());
    if (value !== undefined) entries[pair.slice(0, at).trim()] = { value };
  }
  return propagation.createBaggage(entries);
}

function tryDecode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined; // Not percent-encoded UTF-8.
  }
}
