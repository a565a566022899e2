import { context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { aFlag, checkOptions, having, type OptionKinds, optional } from "../option-check.js";
import type { Instrumentation } from "../server/instrument.js";
import { endAttributes, spanName, startAttributes } from "./attributes.js";
import { parentOf } from "./parent.js";

/** What `createOpenTelemetry` accepts. */
export interface OpenTelemetryOptions {
  /** Default: the tracer `@berth/mcp-server` of the global provider, whenever that is set. */
  readonly tracer?: Tracer | undefined;
  /** Whether spans hold the address of the resource that was asked for (`mcp.resource.uri`). Default false: an address may hold what is secret. */
  readonly recordResourceUris?: boolean | undefined;
}

/**
 * One server span for each request, a child of the sender's, and active while the request is worked on: spans that a handler starts are its children.
 * Names and attributes are those of the OpenTelemetry semantic conventions for MCP (status: development). Neither arguments nor results nor session ids
 * nor texts of errors are recorded.
 * @throws {TypeError} for an option that does not exist, or is of another kind.
 */
export function createOpenTelemetry(options: OpenTelemetryOptions = {}): Instrumentation<unknown> {
  checkOptions(options, openTelemetryOptions);
  const tracer = options.tracer ?? trace.getTracer("@berth/mcp-server");
  return {
    begin(start) {
      const { parent, links } = parentOf(start.trace, context.active());
      const span = tracer.startSpan(
        // Without a target: whether there is a tool of that name is not known yet, and a name is for grouping.
        start.method.slice(0, maxNameLength),
        { kind: SpanKind.SERVER, attributes: startAttributes(start), links: [...links] },
        parent,
      );
      return {
        within: (work) => context.with(trace.setSpan(parent, span), work),
        end(event) {
          end(span, () => {
            span.updateName(spanName(event));
            const attributes = endAttributes(event, options.recordResourceUris === true);
            span.setAttributes(attributes);
            if ("error.type" in attributes) span.setStatus({ code: SpanStatusCode.ERROR });
            if (event.outcome === "cancelled") span.addEvent("cancelled");
          });
        },
      };
    },
  };
}
const maxNameLength = 200;
const openTelemetryOptions = {
  tracer: optional(having(["startSpan"], "a Tracer of @opentelemetry/api")),
  recordResourceUris: optional(aFlag),
} as const satisfies OptionKinds<OpenTelemetryOptions>;

/** A span that is not ended is never exported, whatever went wrong with what is said of it. */
function end(span: Span, describe: () => void): void {
  try {
    describe();
  } finally {
    span.end();
  }
}
