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

/** What an RpcError carries beside its number and text. */
export interface RpcErrorDetails extends ErrorOptions {
  /** The `error.data` member. */
  readonly data?: JsonValue | undefined;
}

/**
 * An answer, not a fault: what the peer gets as its JSON-RPC `error`, word for word. A handler throws it to refuse a request with a number
 * of its choice; keep secrets out of it.
 */
export class RpcError extends Error {
  override readonly name = "RpcError";
  /** JSON-RPC, MCP or application error number. An integer. */
  readonly code: number;
  readonly data: JsonValue | undefined;
  /** @throws {TypeError} for a number that is no integer, as JSON-RPC wants one (2.0 § 5.1). */
  constructor(code: number, message: string, details?: RpcErrorDetails) {
    super(message, details?.cause === undefined ? undefined : { cause: details.cause });
    if (!Number.isSafeInteger(code))
      throw new TypeError(`the code of an RpcError is ${shown(code)}; it has to be an integer`);
    this.code = code;
    this.data = details?.data;
  }
}

function shown(code: unknown): string {
  return typeof code === "string" ? JSON.stringify(code.slice(0, 64)) : String(code);
}

/** Recognises an RpcError from any installed copy of the package, where `instanceof` fails. */
export function isRpcError(value: unknown): value is RpcError {
  return value instanceof Error && value.name === "RpcError" && "code" in value;
}

/** Reasons the server core itself throws: at start for what was registered, later for what a handler returned. */
export type McpServerErrorCode = "REGISTRATION_INVALID" | "RESULT_INVALID";

/** One thing that is wrong in what was registered. */
export interface RegistrationProblem {
  /** Which registration: `tools[2] "search"`, `identity`. */
  readonly where: string;
  readonly message: string;
}

/** Thrown by `createMcpServer`; `problems` holds all that is wrong, not only the first. `code` is `REGISTRATION_INVALID`. */
export class RegistrationError extends Error {
  override readonly name = "RegistrationError";
  readonly code: McpServerErrorCode = "REGISTRATION_INVALID";
  readonly problems: readonly RegistrationProblem[];
  constructor(problems: readonly RegistrationProblem[]) {
    super(`the server cannot start:\n${problems.map(({ where, message }) => `- ${where}: ${message}`).join("\n")}`);
    this.problems = problems;
  }
}

/**
 * A handler returned what its registration or the protocol does not allow, or asked the client what cannot be asked; nothing of it is sent. Reaches the caller of `handle`.
 * `code` is `RESULT_INVALID`.
 */
export class ResultError extends Error {
  override readonly name = "ResultError";
  readonly code: McpServerErrorCode = "RESULT_INVALID";
}

/** Reasons a store of tasks refuses. */
export type TaskStoreErrorCode = "TASK_EXISTS" | "TASK_STORE_FULL";

/** What a `TaskStore` rejects with when it refuses to keep a task; anything else that it rejects with is a fault. Match on `code`. */
export class TaskStoreError extends Error {
  override readonly name = "TaskStoreError";
  readonly code: TaskStoreErrorCode;
  constructor(code: TaskStoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Recognises a TaskStoreError from any installed copy of the package, where `instanceof` fails. */
export function isTaskStoreError(value: unknown): value is TaskStoreError {
  return value instanceof Error && value.name === "TaskStoreError" && "code" in value;
}
