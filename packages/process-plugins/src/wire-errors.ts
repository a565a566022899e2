/** Error codes of the `ave/` half on the wire (PROTOCOL.md § 4); outside the range that JSON-RPC and MCP reserve. */
export const aveErrors = {
  /** MCP or a hook before `start`, or after `stop`. */
  notRunning: -31001,
  /** A method of `ave/instance/` that this state does not have; `data.state`. */
  badState: -31002,
  /** `create` with a protocol that is not spoken; `data.supported`. */
  protocolUnsupported: -31003,
} as const;

/** The two of MCP 2026-07-28 that the gate of PROTOCOL.md § 5 answers. */
export const gateErrors = { invalidParams: -32602, unsupportedVersion: -32022 } as const;
