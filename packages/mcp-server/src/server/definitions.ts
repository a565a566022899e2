import type { JsonObject, RequestId } from "@berth/jsonrpc-framing";
import type { JsonLike } from "../json.js";
import type { ProtocolRevision } from "../revisions.js";
import type { TaskSupport, ToolTask } from "../tasks/settings.js";
import type { ContentBlock, Icon, PromptMessage, ResourceContents } from "./content.js";
import type { InputAnswers, InputQuestion } from "./questions.js";
import type { ArgumentsOf, SchemaSource, StructuredOf } from "./schema-source.js";
import type { TraceContext } from "./trace.js";

/** Levels of log messages, from least to most severe (RFC 5424). */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** What each request lets its handler do, whatever was called. Members may be taken out of it by destructuring. */
export interface RequestScope<P> {
  /** Who asks, as given to `handle`. */
  readonly principal: P;
  /** Aborted when the client cancels or is gone. No answer is sent then. */
  readonly signal: AbortSignal;
  readonly requestId: RequestId;
  readonly revision: ProtocolRevision;
  /** What the client declared: for this request in 2026-07-28, at `initialize` before that. */
  readonly clientCapabilities: JsonObject;
  /** `params._meta` of the request, frozen. */
  readonly meta: JsonObject;
  /** W3C Trace Context of the request, from `params._meta` or the HTTP headers, to be passed on; undefined when it has no valid one. */
  readonly trace: TraceContext | undefined;
  /**
   * Tells progress if the client asked for it; in a task it becomes the task's `statusMessage` (`message`, else the numbers). `progress` has to grow; a value
   * that does not is left out.
   */
  readonly progress: (progress: number, total?: number, message?: string) => void;
  /** Sends a log message if the client wants that level. In a task nothing is sent. */
  readonly log: (level: LogLevel, value: JsonLike, logger?: string) => void;
  /**
   * Ends the stream that carries this request's answer, for a call that takes long: the client comes back for the rest (MCP 2025-11-25, Transports
   * § Streamable HTTP, polling). Does nothing over stdio, for older and newer revisions, and where no event store keeps what is missed.
   */
  readonly releaseStream: () => void;
  /**
   * Asks the client, and resolves with its answers under the same keys, checked for shape. One call asks one round; ask again with other keys
   * for another round.
   *
   * Before 2026-07-28 the client is asked while the handler waits. In 2026-07-28 nothing waits: the call ends the handler (it throws: let it pass),
   * the client comes back with its answers, and the handler **runs again from its start**; this call then resolves at once. So do nothing before it
   * that must not happen twice.
   *
   * In a task the handler waits, until the client has answered all of it or the task ends (then it rejects with the signal's reason). Keys may be used again.
   *
   * @throws {ResultError} for questions that no client can be asked: nothing is sent.
   * @throws {RpcError} -32021 (-32602 before 2026-07-28) when the client did not declare that it can be asked this; -32602 for a malformed
   * answer; -32603 when it answers with an error, or not in time.
   */
  readonly requestInput: <const Q extends Readonly<Record<string, InputQuestion>>>(
    requests: Q,
  ) => Promise<InputAnswers<Q>>;
}

/** One call of a tool. */
export interface ToolCall<P, A = JsonObject> extends RequestScope<P> {
  /** Valid by the tool's input schema, frozen. From a Standard Schema: what its validation returned. */
  readonly arguments: A;
  /**
   * Makes this call a task, if the tool's `task` says `when-started` and the client knows tasks: it is stored, the client gets it as its answer, and the
   * handler goes on. Resolves with whether the call is a task now. May be called again.
   * @throws {RpcError} -32603 when there is no room for another task.
   */
  readonly startTask: () => Promise<boolean>;
}

/** A tool's result, with what is structured in it. */
export interface ToolOutput<Structured = JsonLike> {
  /** Absent beside `structuredContent`: its JSON as one text block. */
  readonly content?: readonly ContentBlock[] | undefined;
  /** Needed when the tool has an output schema, and checked by it. Clients before 2026-07-28 get it when it is an object. */
  readonly structuredContent?: Structured | undefined;
  readonly isError?: boolean | undefined;
  readonly _meta?: JsonObject | undefined;
}

/** What a tool's handler returns. A string is one text block. */
export type ToolResult = string | ToolOutput;

/** What the handler of a tool with an output schema returns: what that says, or an error. */
export type StructuredResult<Structured> =
  | (ToolOutput<Structured> & { readonly structuredContent: Structured })
  | (ToolOutput<Structured> & { readonly isError: true });

/** What the handler of a tool with this output schema returns. */
export type ResultOf<O extends SchemaSource | undefined> = O extends SchemaSource
  ? StructuredResult<StructuredOf<O>>
  : ToolResult;

/** What a client may know about a tool's effects. Hints: nothing is enforced. */
export interface ToolAnnotations {
  readonly title?: string | undefined;
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

/** What all registrations have in common. */
export interface Registration {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** Shown to clients of 2025-11-25 and later. */
  readonly icons?: readonly Icon[] | undefined;
  /** What the authorizer is asked for. There is no default: nothing is public by omission. */
  readonly permission: string;
  readonly _meta?: JsonObject | undefined;
}

/** A tool. `P` is who calls it; `S` and `O` are the types of its schemas, from which TypeScript knows what its handler gets and returns. */
// `out`: a list of tools takes each tool, whatever its schemas are. The compiler checks that this holds.
export interface ToolDefinition<
  P,
  out S extends SchemaSource = SchemaSource,
  out O extends SchemaSource | undefined = SchemaSource | undefined,
> extends Registration {
  /** 1 to 128 of `A-Z a-z 0-9 _ - .`, unique. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema 2020-12 whose root has `type: "object"`, or a Standard Schema that can say its JSON Schema. */
  readonly inputSchema: S;
  /**
   * Before 2026-07-28 shown to clients only when its root has `type: "object"`. Of a Standard Schema, what its validation returns is what is sent: members that a zod
   * object does not name stay here.
   */
  readonly outputSchema?: O | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** Whether its calls may or must become tasks (Tasks extension 2026-07-28). Absent: never. */
  readonly task?: TaskSupport | ToolTask | undefined;
  handler(call: ToolCall<P, ArgumentsOf<S>>): ResultOf<O> | Promise<ResultOf<O>>;
}

/** Proposes values for an argument. At most 100 are sent. */
export interface CompletionCall<P> {
  /** What was typed so far. */
  readonly value: string;
  /** Arguments that are already chosen. */
  readonly chosen: Readonly<Record<string, string>>;
  readonly principal: P;
  readonly signal: AbortSignal;
}
/** See `CompletionCall`. */
export type Completer<P> = (call: CompletionCall<P>) => readonly string[] | Promise<readonly string[]>;

/** One argument of a prompt; its value is a string. */
export interface PromptArgument<P> {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  readonly complete?: Completer<P> | undefined;
}

/** One use of a prompt. */
export interface PromptCall<P> extends RequestScope<P> {
  readonly arguments: Readonly<Record<string, string>>;
}

/** What a prompt's handler returns. A string is one text message of the user. */
export type PromptResult =
  | string
  | {
      readonly description?: string | undefined;
      readonly messages: readonly PromptMessage[];
      readonly _meta?: JsonObject | undefined;
    };

/** A prompt. */
export interface PromptDefinition<P> extends Registration {
  readonly name: string;
  readonly arguments?: readonly PromptArgument<P>[] | undefined;
  handler(call: PromptCall<P>): PromptResult | Promise<PromptResult>;
}

/** One reading of a resource. */
export interface ResourceCall<P> extends RequestScope<P> {
  readonly uri: string;
  /** Values of the template's variables, percent-decoded: check them before you touch a file. Empty for a plain resource. */
  readonly variables: Readonly<Record<string, string>>;
}

/** What reading returns. A string is one text; undefined means that there is no such resource. */
export type ReadResult = string | ResourceContents | readonly ResourceContents[] | undefined;

/** What a client may know about a resource's use. */
export interface ResourceAnnotations {
  readonly audience?: readonly ("user" | "assistant")[] | undefined;
  /** 0 to 1. */
  readonly priority?: number | undefined;
  /** ISO 8601. */
  readonly lastModified?: string | undefined;
}

/** A resource with a fixed address. */
export interface ResourceDefinition<P> extends Registration {
  /** Absolute, unique. */
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string | undefined;
  /** In bytes, if known. */
  readonly size?: number | undefined;
  readonly annotations?: ResourceAnnotations | undefined;
  read(call: ResourceCall<P>): ReadResult | Promise<ReadResult>;
}

/** Resources whose addresses follow a pattern. */
export interface ResourceTemplateDefinition<P> extends Registration {
  /** RFC 6570 with `{name}` (no `/`, `?` or `#` in the value) and `{+name}` (any character), text between any two variables. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly mimeType?: string | undefined;
  readonly annotations?: ResourceAnnotations | undefined;
  /** By variable. */
  readonly complete?: Readonly<Record<string, Completer<P>>> | undefined;
  read(call: ResourceCall<P>): ReadResult | Promise<ReadResult>;
}
