import {
  type Envelope,
  isFramingError,
  readScalar,
  type Span,
  scanEnvelope,
  spanType,
  splitObject,
  type WireError,
  wireErrors,
} from "@berth/jsonrpc-framing";
import { checkMcpRequest } from "./gate.js";
import { isTooDeep, maxDepth } from "./nesting.js";

/** A request that may be sent to a plugin once its id, and its progress token, are ours. */
export interface McpRequest {
  readonly kind: "request";
  readonly bytes: Uint8Array;
  readonly method: string;
  readonly id: Span;
  /** Of `params._meta.progressToken`. */
  readonly token: Span | undefined;
  /** A `subscriptions/listen`: it waits as long as its client does. */
  readonly isListening: boolean;
  /** Whether it asked for `notifications/message`. */
  readonly wantsLog: boolean;
}

/** What a client wrote. */
export type McpFrame =
  | McpRequest
  | { readonly kind: "notification"; readonly bytes: Uint8Array; readonly method: string; readonly envelope: Envelope }
  /** Refused on the spot; without an id when none could be read. */
  | { readonly kind: "refused"; readonly wire: WireError; readonly id: Uint8Array | undefined }
  /** An answer: a plugin never asks, so it is for nobody. */
  | { readonly kind: "answer" };

/** Members of params that are looked at; one that is there twice is refused, since a plugin's parser might take the other. */
const wanted = ["_meta", "protocolVersion", "requestId"];
const logLevelKey = "io.modelcontextprotocol/logLevel";

/**
 * Reads one frame of a client, and asks the gate. All of JSON's grammar is checked: what a plugin cannot read it answers without an id, which would end it for
 * everybody.
 */
export function readMcpFrame(bytes: Uint8Array): McpFrame {
  const envelope = scan(bytes);
  if ("wire" in envelope) return envelope;
  const { kind, id, method = "" } = envelope;
  if (kind === "response" || kind === "error") return { kind: "answer" };
  const idBytes = id && bytes.subarray(id.start, id.end);
  if (isTooDeep(bytes)) {
    return refused(wireErrors.invalidRequest, `a message of more than ${maxDepth} levels`, idBytes);
  }
  if (id === undefined) return { kind: "notification", bytes, method, envelope };
  if (method.startsWith("ave/")) {
    return {
      kind: "refused",
      wire: { code: wireErrors.methodNotFound, message: "Method not found", data: method },
      id: idBytes,
    };
  }
  return readRequest(bytes, envelope, id, method);
}

function scan(bytes: Uint8Array): Envelope | Extract<McpFrame, { kind: "refused" }> {
  try {
    return scanEnvelope(bytes, wanted, { grammar: "full", duplicateKeys: "refuse" });
  } catch (error) {
    if (!isFramingError(error)) throw error;
    const id = error.requestId === undefined ? undefined : Buffer.from(JSON.stringify(error.requestId));
    return refused(error.wireCode, error.message, id);
  }
}

function readRequest(bytes: Uint8Array, envelope: Envelope, id: Span, method: string): McpFrame {
  const idBytes = bytes.subarray(id.start, id.end);
  const { params, members } = envelope;
  if (params !== undefined && spanType(bytes, params) !== "object") {
    return refused(wireErrors.invalidParams, "params is not an object", idBytes);
  }
  const metaSpan = members?.get("_meta");
  const meta = metaSpan && readMeta(bytes, metaSpan);
  if (meta?.fault !== undefined) return refused(wireErrors.invalidParams, meta.fault, idBytes);
  const version = members?.get("protocolVersion");
  const wire = checkMcpRequest(method, {
    _meta: meta?.value,
    protocolVersion: version && readScalar(bytes, version),
  });
  if (wire !== undefined) return { kind: "refused", wire, id: idBytes };
  return {
    kind: "request",
    bytes,
    method,
    id,
    token: meta?.members.get("progressToken"),
    isListening: method === "subscriptions/listen",
    wantsLog: meta?.members.has(logLevelKey) === true,
  };
}

interface Meta {
  readonly value: unknown;
  readonly members: ReadonlyMap<string, Span>;
  readonly fault?: string | undefined;
}

function readMeta(bytes: Uint8Array, span: Span): Meta {
  const members = new Map<string, Span>();
  const value: unknown = JSON.parse(Buffer.from(bytes.subarray(span.start, span.end)).toString("utf8"));
  if (spanType(bytes, span) !== "object") return { value, members };
  try {
    for (const { key, value: place } of splitObject(bytes, span)) {
      if (members.has(key)) return { value, members, fault: `params._meta has ${JSON.stringify(key)} twice` };
      members.set(key, place);
    }
  } catch (error) {
    if (!isFramingError(error)) throw error;
    return { value, members, fault: `params._meta: ${error.message}` };
  }
  const token = members.get("progressToken");
  const kind = token && spanType(bytes, token);
  if (kind === undefined || kind === "string" || kind === "number") return { value, members };
  return { value, members, fault: "params._meta.progressToken is not a string or an integer" };
}

function refused(code: number, message: string, id: Uint8Array | undefined): Extract<McpFrame, { kind: "refused" }> {
  return { kind: "refused", wire: { code, message }, id };
}
