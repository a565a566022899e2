import type { Scheduler } from "@berth/jsonrpc-framing";
import type { ServedRevisions } from "../era.js";
import type { SchemaLimits } from "../json-schema/index.js";
import type { TaskSettings } from "../tasks/settings.js";
import type { Authorizer } from "./authorize.js";
import type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
} from "./definitions.js";
import type { Instrumentation } from "./instrument.js";
import type { McpServerLimits } from "./limits.js";
import type { Observer } from "./observers.js";
import type { RelayedPrompt } from "./relayed-prompt.js";
import type { RelayedAddresses, RelayedResource, RelayedResourceTemplate } from "./relayed-resource.js";
import type { RelayedTool } from "./relayed-tool.js";
import type { ServerIdentity } from "./render.js";
import type { SchemaSource } from "./schema-source.js";

/** How long clients of 2026-07-28 may keep lists, resources and the discovery (MCP 2026-07-28, Caching). */
export interface CacheHints {
  /** Milliseconds, a whole number. 0: stale at once. */
  readonly ttlMs: number;
  /** `public` lets a cache give one principal's answer to another: only for a server that shows everyone the same. */
  readonly scope: "public" | "private";
}

/** How the state that clients carry between the rounds of a request is protected. */
export interface RequestStateSettings {
  /**
   * HMAC-SHA-256 keys, 32 bytes or more each; the first signs, all are accepted. Default: one random key for this server, so that a state does
   * not outlive the process and is of no use to another one.
   */
  readonly keys?: readonly Uint8Array[] | undefined;
}

/** What tells one principal from another: what belongs to one is never given to another. Strings do that themselves. */
export type PrincipalNaming<P> = [P] extends [string]
  ? { readonly principalId?: ((principal: P) => string) | undefined }
  : { readonly principalId: (principal: P) => string };

/** What `createMcpServer` accepts. `P` is who asks: whatever your authentication knows. `I` are the types of the tools' input schemas, which TypeScript finds. */
export type McpServerOptions<P, I extends readonly SchemaSource[] = readonly SchemaSource[]> = McpServerSettings<P, I> &
  PrincipalNaming<P>;

/** What it accepts beside what tells principals apart. */
export interface McpServerSettings<P, I extends readonly SchemaSource[] = readonly SchemaSource[]> {
  readonly identity: ServerIdentity;
  /** For the client's model. */
  readonly instructions?: string | undefined;
  /** Default: all. Newest first. */
  readonly revisions?: ServedRevisions | undefined;
  /** Who may use what. Absent: nobody may use anything, and the process warns at the start. */
  readonly authorize?: Authorizer<P> | undefined;
  /** Each handler's arguments have the type of its tool's schema; with `createMcpServer<P>` only those of `defineTool` and `toolsFor` do. */
  readonly tools?: { readonly [K in keyof I]: ToolDefinition<P, I[K]> } | undefined;
  /** Tools of other servers, handed on as they are, listed behind `tools`. */
  readonly relayedTools?: readonly RelayedTool<P>[] | undefined;
  readonly prompts?: readonly PromptDefinition<P>[] | undefined;
  /** Prompts of other servers, handed on as they are, listed behind `prompts`. */
  readonly relayedPrompts?: readonly RelayedPrompt<P>[] | undefined;
  readonly resources?: readonly ResourceDefinition<P>[] | undefined;
  readonly resourceTemplates?: readonly ResourceTemplateDefinition<P>[] | undefined;
  /** Resources of other servers, handed on as they are, listed behind `resources`. */
  readonly relayedResources?: readonly RelayedResource<P>[] | undefined;
  /** Asked for addresses that nothing lists, after `resourceTemplates`. */
  readonly relayedResourceTemplates?: readonly RelayedResourceTemplate<P>[] | undefined;
  /** Asked for addresses that no template matches either. */
  readonly relayedAddresses?: RelayedAddresses<P> | undefined;
  /**
   * Whether a handler's error may be shown to the client: its message then is the content of a tool error. Default: none may. Throwing means no, is counted, and is
   * told to `onObserverError`; the handler's error stays what it was.
   */
  readonly isSafeError?: ((error: unknown) => boolean) | undefined;
  /**
   * How a client learns that a tool's arguments do not fit its schema. `by-revision`: as the revision has it, since 2025-11-25 a tool error, before it -32602.
   * `tool-error`: in every revision, as servers on Python's SDK answer. Default `by-revision`.
   */
  readonly invalidArguments?: "by-revision" | "tool-error" | undefined;
  readonly observers?: readonly Observer<P>[] | undefined;
  /** Runs around each request: tracing. Absent: costs nothing. */
  readonly instrumentation?: Instrumentation<P> | undefined;
  /** Told what an observer, the instrumentation or `isSafeError` threw. */
  readonly onObserverError?: ((error: unknown) => void) | undefined;
  /** Default `{ ttlMs: 0, scope: "private" }`. */
  readonly cacheHints?: CacheHints | undefined;
  readonly requestState?: RequestStateSettings | undefined;
  /** How the tasks of tools that say `task` are kept. */
  readonly tasks?: TaskSettings | undefined;
  readonly limits?: McpServerLimits | undefined;
  /** What bounds schemas and the work of checking values by them. */
  readonly schemaLimits?: SchemaLimits | undefined;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** For the time that clients have to answer. Default: Node's timers. */
  readonly scheduler?: Scheduler | undefined;
}
