/** The error numbers of JSON-RPC 2.0 § 5.1. Numbers of protocols on top of it live in their own packages. */
export const wireErrors = {
  /** The bytes are not JSON. */
  parse: -32700,
  /** JSON, but not a request object. */
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  /** A fault of the answering side; never for what the peer sent. */
  internal: -32603,
} as const;
