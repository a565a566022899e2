import type { Credential } from "./credentials.js";
import type { ExtensionsView, ReturnedExtensions } from "./extensions.js";
import type { JsonObject } from "./json.js";

/** One hook of one plugin, as it leaves the executor. */
export interface PluginCall {
  /** Unique for this call: a UUID. */
  readonly id: string;
  /** For instance `tool_pre_invoke`, or `cmf.tool_pre_invoke`. */
  readonly hook: string;
  /** The payload in the hook's wire form; credentials in it are placeholders. */
  readonly payload: JsonObject;
  readonly context: PluginContext;
  /** What the plugin's capabilities let it see; undefined when that is nothing. */
  readonly extensions: ExtensionsView | undefined;
  /** Only for a credential hook of a plugin that may have it. Enters no log, error or record. */
  readonly credential: Credential | undefined;
}

/** What a plugin is told about the request, and may note for the next plugins. */
export interface PluginContext {
  /** Of this plugin, kept from its hooks before to its hooks after the same call. */
  readonly state: JsonObject;
  readonly globalContext: GlobalContext;
  readonly metadata: JsonObject;
}

/** About one request; the same for all plugins. */
export interface GlobalContext {
  readonly requestId: string;
  readonly user?: string | JsonObject | undefined;
  readonly userContext?: JsonObject | undefined;
  readonly tenantId?: string | undefined;
  readonly serverId?: string | undefined;
  /** At most 200 printable characters. */
  readonly contentType?: string | undefined;
  readonly state: JsonObject;
  readonly metadata: JsonObject;
}

/** What a plugin answered, read and checked, in its wire form. */
export interface PluginReply {
  /** False denies. A reply that says nothing allows. */
  readonly continueProcessing: boolean;
  /** In the same form as the hook's payload, or its result form for the two credential hooks; undefined: unchanged. */
  readonly modifiedPayload: JsonObject | undefined;
  /** Undefined: unchanged. What of it may be applied is the executor's to decide. */
  readonly modifiedExtensions: ReturnedExtensions | undefined;
  readonly violation: Violation | undefined;
  readonly metadata: JsonObject | undefined;
  readonly httpHeaders: Readonly<Record<string, string>> | undefined;
  readonly retryDelayMs: number;
  /** Keys to merge, never to replace; undefined from workers that do not tell. */
  readonly context: { readonly state: JsonObject; readonly globalState: JsonObject } | undefined;
}

/** Why a plugin denies. */
export interface Violation {
  readonly reason: string;
  readonly description: string;
  readonly code: string;
  readonly details: JsonObject;
  readonly mcpErrorCode: number | undefined;
  readonly httpStatusCode: number | undefined;
  readonly httpHeaders: Readonly<Record<string, string>> | undefined;
}
