/** Error numbers of the relay, outside the range that JSON-RPC and MCP reserve, so that a local fault never looks like a server's. */
export const relayErrors = { spawnRefused: -31100, toolBlocked: -31101, upstreamGone: -31102 } as const;

/** `data.reason` of -31101: the definition is not the accepted one, or the catalog does not let it through. */
export type BlockedReason =
  | "TOOL_CHANGED"
  | "TOOL_NOT_PINNED"
  | "TOOL_WITHDRAWN"
  | "TOOL_DENIED"
  | "PROMPT_CHANGED"
  | "PROMPT_NOT_PINNED"
  | "PROMPT_WITHDRAWN"
  | "RESOURCE_TEMPLATE_CHANGED"
  | "RESOURCE_TEMPLATE_NOT_PINNED"
  | "NAME_COLLISION";

/** `data.reason` of -31102: the server did not answer. */
export type GoneReason =
  | "CHILD_DESYNCHRONIZED"
  | "CHILD_EXITED"
  | "START_FAILED"
  | "START_TIMEOUT"
  | "INITIALIZE_FAILED"
  | "REVISION_UNSUPPORTED"
  | "LIST_FAILED"
  | "CALL_TIMEOUT"
  | "FRAME_TOO_LARGE"
  | "SESSION_CLOSED";
