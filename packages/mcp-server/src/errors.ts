import type { JsonValue } from "@berth/jsonrpc-framing";

/** Reasons a message cannot be served in any era that this server speaks. */
export type EraErrorCode = "METHOD_UNKNOWN" | "META_INCOMPLETE" | "REVISION_UNSUPPORTED" | "NOT_INITIALIZED";

/** What goes on the wire for an EraError. */
export interface EraWireError {
  /** JSON-RPC or MCP error number. */
  readonly code: number;
  /** The `error.data` member; absent where the specification defines none. */
  readonly data?: JsonValue | undefined;
}

/** Thrown when a message belongs to no era that is served. Match on `code`; `wire` is what the peer gets, with `message` as its text. */
export class EraError extends Error {
  override readonly name = "EraError";
  readonly code: EraErrorCode;
  readonly wire: EraWireError;
  constructor(code: EraErrorCode, message: string, wire: EraWireError, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.wire = wire;
  }
}

/** Recognises an EraError from any installed copy of the package, where `instanceof` fails. */
export function isEraError(value: unknown): value is EraError {
  return value instanceof Error && value.name === "EraError" && "code" in value;
}
