import { ShipyardError } from "../errors.js";
import type { StateFolder } from "../state-folder.js";

// One request and one answer a connection, each a line of JSON, over a socket that only the state folder's owner may use.

/** What another process of the same user asks of the running server. */
export type ControlRequest = { readonly op: "release"; readonly id: string } | { readonly op: "sweep" };

/** What was done, or why not. */
export type ControlAnswer =
  | { readonly ok: true; readonly result: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** Longest line, in bytes, either way. */
export const maxControlBytes: number = 65_536;

// sun_path of unix(7), without its NUL.
const maxSocketPath = 107;

/** @throws {ShipyardError} `STATE_UNUSABLE` when the path is too long for a socket. */
export function checkSocketPath({ control, path }: StateFolder): void {
  const bytes = Buffer.byteLength(control);
  if (bytes <= maxSocketPath) return;
  throw new ShipyardError("STATE_UNUSABLE", `the path of the state folder ${path} is too long for sockets in it`, {
    lines: [`${control} has ${bytes} bytes, a socket's path at most ${maxSocketPath}: give a shorter one with --state`],
  });
}

/** Undefined for what is no request. */
export function readControlRequest(line: string): ControlRequest | undefined {
  const value = parse(line);
  if (typeof value !== "object" || value === null || !("op" in value)) return undefined;
  if (value.op === "sweep") return { op: "sweep" };
  return value.op === "release" && "id" in value && typeof value.id === "string"
    ? { op: "release", id: value.id }
    : undefined;
}

/** Undefined for what is no answer. */
export function readControlAnswer(line: string): ControlAnswer | undefined {
  const value = parse(line);
  if (typeof value !== "object" || value === null || !("ok" in value)) return undefined;
  if (value.ok === true && "result" in value && typeof value.result === "object" && value.result !== null) {
    return { ok: true, result: { ...value.result } };
  }
  if (!("code" in value && "message" in value)) return undefined;
  return { ok: false, code: String(value.code), message: String(value.message) };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // reported by the caller as a line that is none of the protocol
  }
}
