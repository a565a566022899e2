import type { Json } from "./plugin-definition.js";
import { faults, isJson, type WireFault } from "./wire.js";

/** A request of the host. */
export interface Request {
  readonly id: string | number;
  readonly method: string;
  readonly params: unknown;
  /** Of its line. */
  readonly bytes: number;
}

/** What a line was. */
export type Line =
  | { readonly kind: "request"; readonly request: Request }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "fault"; readonly fault: WireFault }
  | { readonly kind: "blank" };

/** Levels of a message, both ways (PROTOCOL.md § 3). */
export const maxDepth = 128;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const parseFault: Line = { kind: "fault", fault: faults.parse };
const requestFault: Line = { kind: "fault", fault: faults.request };

/** Reads one line of the host; `undefined` is one that was too long. */
export function readLine(line: Uint8Array | undefined): Line {
  if (line === undefined) return parseFault;
  let value: unknown;
  try {
    const text = utf8.decode(line);
    if (/^[ \t\r]*$/.test(text)) return { kind: "blank" };
    if (depthOf(text) > maxDepth) return parseFault;
    value = JSON.parse(text);
  } catch {
    // Not UTF-8 or not JSON: the answer is the same, and the text of the exception would quote the line.
    return parseFault;
  }
  return isJson(value) ? readEnvelope(value, line.length) : requestFault;
}

function readEnvelope(message: Json, bytes: number): Line {
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== "2.0" || typeof method !== "string") return requestFault;
  if (!("id" in message)) return { kind: "notification", method, params };
  if (typeof id !== "string" && !(typeof id === "number" && Number.isSafeInteger(id))) return requestFault;
  return { kind: "request", request: { id, method, params, bytes } };
}

/** How deep JSON is nested, without parsing it: brackets outside of strings. */
export function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return deepest;
}
