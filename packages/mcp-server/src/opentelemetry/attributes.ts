import { wireErrors } from "@berth/jsonrpc-framing";
import type { Attributes } from "@opentelemetry/api";
import type { RequestStart } from "../server/instrument.js";
import type { RequestEvent } from "../server/observers.js";

// Names: OpenTelemetry semantic conventions for Model Context Protocol, Spans § Server. `mcp.session.id` is left out: who reads traces must not be able to
// take over sessions.
const maxValueLength = 200;
const maxUriLength = 1_024;

/** What is known at the start, so that a sampler can decide by it. */
export function startAttributes({ method, requestId, overHttp }: RequestStart<unknown>): Attributes {
  return {
    "mcp.method.name": method.slice(0, maxValueLength),
    "jsonrpc.request.id": String(requestId).slice(0, maxValueLength),
    ...(overHttp ? { "network.transport": "tcp", "network.protocol.name": "http" } : { "network.transport": "pipe" }),
  };
}

/** How it ended. `error.type` is there if and only if the request failed. */
export function endAttributes(event: RequestEvent<unknown>, withUri: boolean): Attributes {
  const { method, name, revision, errorCode } = event;
  const target = name?.slice(0, maxValueLength);
  const error = errorCode === undefined ? undefined : String(errorCode);
  const type = error ?? (event.outcome === "tool-error" ? "tool_error" : undefined);
  return {
    "mcp.protocol.version": revision,
    ...(method === "tools/call" && { "gen_ai.operation.name": "execute_tool" }),
    ...(method === "tools/call" && target !== undefined && { "gen_ai.tool.name": target }),
    ...(method === "prompts/get" && target !== undefined && { "gen_ai.prompt.name": target }),
    ...(method === "resources/read" &&
      name !== undefined &&
      withUri && { "mcp.resource.uri": name.slice(0, maxUriLength) }),
    ...(error !== undefined && { "rpc.response.status_code": error }),
    ...(type !== undefined && { "error.type": type }),
  };
}

/** `{method} {target}`, with a target only where there is a tool or prompt of that name: clients must not be able to make up names. */
export function spanName({ method, name, outcome, errorCode }: RequestEvent<unknown>): string {
  if (errorCode === wireErrors.methodNotFound) return "unknown method";
  const isNamed = (method === "tools/call" || method === "prompts/get") && name !== undefined;
  const exists = outcome === "success" || outcome === "tool-error" || outcome === "failure";
  return isNamed && exists ? `${method} ${name}` : method.slice(0, maxValueLength);
}
