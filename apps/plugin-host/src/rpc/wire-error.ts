import { isChainError } from "@berth/audit-chain";
import { type WireError, wireErrors } from "@berth/jsonrpc-framing";
import { isPluginHostError } from "@berth/venv-host/executor";
import { RequestFault } from "./json-members.js";

/** Numbers of this program's own, from the range that JSON-RPC 2.0 § 5.1 leaves to servers. */
export const hostErrors = {
  /** The program ends. */
  closing: -32_000,
  /** Too many requests are under way. */
  busy: -32_001,
  /** What was decided could not be written down: the hook counts as denied. */
  notRecorded: -32_002,
  /** The client took its request back. */
  cancelled: -32_003,
} as const;

/** What a client is told of an error. Undefined for a fault of ours, whose text is not for clients. */
export function wireErrorOf(error: unknown): WireError | undefined {
  if (error instanceof RequestFault) return told(wireErrors.invalidParams, error.message, error.code);
  if (isChainError(error) && error.code === "AUDIT_UNAVAILABLE")
    return told(hostErrors.notRecorded, error.message, error.code);
  if (!isPluginHostError(error)) return undefined;
  switch (error.code) {
    case "PAYLOAD_INVALID":
    case "OPTION_INVALID":
      return told(wireErrors.invalidParams, error.message, error.code);
    case "DECISION_NOT_RECORDED":
      return told(hostErrors.notRecorded, error.message, error.code);
    case "HOST_CLOSED":
      return told(hostErrors.closing, error.message, error.code);
    default:
      return told(wireErrors.internal, error.message, error.code);
  }
}

function told(code: number, message: string, name: string): WireError {
  return { code, message, data: { code: name } };
}
