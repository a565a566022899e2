import { type JsonObject, type JsonValue, type RequestId, wireErrors } from "@berth/jsonrpc-framing";
import { modernMetaKeys } from "../era.js";
import { RpcError } from "../errors.js";
import type { JsonLike } from "../json.js";
import type { SchemaCompiler } from "../json-schema/index.js";
import type { ProtocolRevision } from "../revisions.js";
import type { RequestContext } from "./context.js";
import type { LogLevel, PromptCall, RequestScope, ResourceCall, ToolCall } from "./definitions.js";
import { requestInput } from "./input.js";
import { isLongId } from "./limits.js";
import type { RelayedCall } from "./relayed-rounds.js";
import type { TraceContext } from "./trace.js";

const levels: readonly LogLevel[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** Whether a value that came from a client names a level. */
export function isLogLevel(value: unknown): value is LogLevel {
  return levels.some((level) => level === value);
}

/**
 * A request of 2026-07-28 may say from which level on it wants log messages (MCP 2026-07-28, Logging).
 * @throws {RpcError} -32602 for a level that does not exist.
 */
export function requireLogLevel(meta: JsonObject): void {
  const level = meta[modernMetaKeys.logLevel];
  if (level === undefined || isLogLevel(level)) return;
  throw new RpcError(wireErrors.invalidParams, `${modernMetaKeys.logLevel} names no log level`);
}

/** What handlers get. Its functions are getters that bind on use, so a call costs no closure that its handler does not ask for. */
class Scope<P> implements RequestScope<P> {
  readonly #context: RequestContext<P>;
  readonly #compiler: SchemaCompiler;
  constructor(context: RequestContext<P>, compiler: SchemaCompiler) {
    this.#context = context;
    this.#compiler = compiler;
  }
  get principal(): P {
    return this.#context.principal;
  }
  get signal(): AbortSignal {
    return this.#context.signal;
  }
  get requestId(): RequestId {
    return this.#context.id;
  }
  get revision(): ProtocolRevision {
    return this.#context.revision;
  }
  get clientCapabilities(): JsonObject {
    return this.#context.clientCapabilities;
  }
  get meta(): JsonObject {
    return this.#context.meta;
  }
  get trace(): TraceContext | undefined {
    return this.#context.trace;
  }
  get progress(): RequestScope<P>["progress"] {
    return (progress, total, message) => tellProgress(this.#context, progress, total, message);
  }
  get log(): RequestScope<P>["log"] {
    return (level, value, logger) => tellLog(this.#context, level, value, logger);
  }
  get releaseStream(): RequestScope<P>["releaseStream"] {
    return () => {
      if (isOpen(this.#context)) this.#context.connection.releaseStream(this.#context.id);
    };
  }
  get requestInput(): RequestScope<P>["requestInput"] {
    return (requests) => {
      const answers = requestInput(this.#context, requests, this.#compiler);
      answers.catch(() => undefined); // a handler that does not wait for it is answered for all the same, and must not end the process
      return answers;
    };
  }
}

export class ToolScope<P, A> extends Scope<P> implements ToolCall<P, A> {
  readonly arguments: A;
  readonly #call: RequestContext<P>;
  constructor(context: RequestContext<P>, compiler: SchemaCompiler, given: A) {
    super(context, compiler);
    this.#call = context;
    this.arguments = given;
  }
  get startTask(): ToolCall<P, A>["startTask"] {
    return () => {
      const started = startTask(this.#call);
      started.catch(() => undefined); // as with requestInput
      return started;
    };
  }
}

export class RelayScope<P> extends Scope<P> implements RelayedCall<P> {
  readonly params: JsonObject;
  constructor(context: RequestContext<P>, compiler: SchemaCompiler, params: JsonObject) {
    super(context, compiler);
    this.params = params;
  }
}

export class PromptScope<P> extends Scope<P> implements PromptCall<P> {
  readonly arguments: Readonly<Record<string, string>>;
  constructor(context: RequestContext<P>, compiler: SchemaCompiler, given: Readonly<Record<string, string>>) {
    super(context, compiler);
    this.arguments = given;
  }
}

export class ResourceScope<P> extends Scope<P> implements ResourceCall<P> {
  readonly uri: string;
  readonly variables: Readonly<Record<string, string>>;
  constructor(
    context: RequestContext<P>,
    compiler: SchemaCompiler,
    uri: string,
    variables: Readonly<Record<string, string>>,
  ) {
    super(context, compiler);
    this.uri = uri;
    this.variables = variables;
  }
}

async function startTask<P>(call: RequestContext<P>): Promise<boolean> {
  await call.startTask?.();
  return call.task !== undefined;
}

/** Nothing is told after the answer or the cancellation (MCP 2025-11-25, Progress § Behavior requirements), nor by a task (Tasks extension). */
function isOpen<P>(context: RequestContext<P>): boolean {
  return !context.finished && !context.cancelled && context.task === undefined;
}

function tellProgress<P>(context: RequestContext<P>, progress: number, total?: number, message?: string): void {
  if (context.task !== undefined) {
    context.task.progress(progress, total, message);
    return;
  }
  const { progressToken } = context.meta;
  if ((typeof progressToken !== "string" && typeof progressToken !== "number") || isLongId(progressToken)) return;
  if (!isOpen(context) || !Number.isFinite(progress) || progress <= context.lastProgress) return;
  context.lastProgress = progress;
  const delivery = { droppable: true, request: context.id };
  context.connection.notify("notifications/progress", { progressToken, progress, total, message }, delivery);
}

function tellLog<P>(context: RequestContext<P>, level: LogLevel, value: JsonLike, logger?: string): void;
function tellLog<P>(context: RequestContext<P>, level: LogLevel, value: JsonValue, logger?: string): void {
  const wanted = context.era === "modern" ? context.meta[modernMetaKeys.logLevel] : context.connection.logLevel;
  if (!isLogLevel(wanted) || !isOpen(context) || levels.indexOf(level) < levels.indexOf(wanted)) return;
  const delivery = { droppable: true, request: context.id };
  context.connection.notify("notifications/message", { level, logger, data: value }, delivery);
}
