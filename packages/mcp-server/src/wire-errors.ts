/**
 * Error numbers that the Model Context Protocol itself defines, beside JSON-RPC's own.
 *
 * `resourceNotFound` is of 2025-06-18 and 2025-11-25 (2026-07-28 servers answer -32602); `urlElicitationRequired` is of 2025-11-25 only;
 * the other three are of 2026-07-28 (Base protocol, Error codes). -32023 to -32099 are reserved for the specification: nothing of ours is there.
 */
export const mcpErrors = {
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingRequiredClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
  urlElicitationRequired: -32042,
} as const;
