import type { Edit, Envelope, Span, WireError } from "@berth/jsonrpc-framing";
import { splice } from "@berth/jsonrpc-framing";

const encoder = new TextEncoder();
const nullId = encoder.encode("null");

/** UTF-8 bytes of a text. */
export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

/** An error response. Without id bytes it answers something whose id could not be read. */
export function errorFrame(idBytes: Uint8Array | undefined, error: WireError): Uint8Array {
  return joined(`{"jsonrpc":"2.0","id":`, idBytes ?? nullId, `,"error":${JSON.stringify(error)}}`);
}

/** A response whose result is given as JSON. */
export function resultFrame(idBytes: Uint8Array, result: Uint8Array | string): Uint8Array {
  return joined(`{"jsonrpc":"2.0","id":`, idBytes, `,"result":`, result, "}");
}

/** A request of the relay's own. */
export function requestFrame(id: number, method: string, params?: Uint8Array | string): Uint8Array {
  const head = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
  return params === undefined ? encodeText(`${head}}`) : joined(`${head},"params":`, params, "}");
}

/** A notification of the relay's own. */
export function notificationFrame(method: string, params?: string): Uint8Array {
  const head = `{"jsonrpc":"2.0","method":${JSON.stringify(method)}`;
  return encodeText(params === undefined ? `${head}}` : `${head},"params":${params}}`);
}

/** The bytes at a span, in memory of their own: a view would keep the whole frame, and the chunk around it, alive. */
export function copySpan(frame: Uint8Array, span: Span): Uint8Array {
  return frame.slice(span.start, span.end);
}

/** Another value in place of the one at a span. */
export function replacing(span: Span, bytes: Uint8Array): Edit {
  return { start: span.start, end: span.end, bytes };
}

/** The frame with another id and these further edits. */
export function withId(frame: Uint8Array, envelope: Envelope, id: Uint8Array, edits?: readonly Edit[]): Uint8Array {
  if (envelope.id === undefined) throw new Error("a message without id has none to replace");
  const edit = replacing(envelope.id, id);
  if (edits === undefined) return splice(frame, [edit]);
  // In their order in the frame where there is one more, as there is for a tool's name: it saves a sort on each call.
  return splice(frame, (edits[0]?.start ?? 0) < edit.start ? [...edits, edit] : [edit, ...edits]);
}

/** One buffer from texts and bytes. */
export function joined(...parts: readonly (Uint8Array | string)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? encoder.encode(part) : part)));
}
