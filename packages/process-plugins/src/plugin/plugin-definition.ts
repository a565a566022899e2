/** An object of JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** How much a line of the log matters. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Writes a line for the operator, as `ave/instance/log`. What is over 8 KiB is cut. */
export type Log = (level: LogLevel, message: string) => void;

/** What a tool or a hook may use while it works. */
export interface PluginCall {
  /** Aborted when the host gave the call up, or stops the plugin: whatever is answered then is not used. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** The folder that this plugin may write; it stays from one start to the next. */
  readonly dataFolder: string;
}

/**
 * What a tool answers. A text is one block of text. An object with `content` is the result as MCP has it. Any other object is `structuredContent`, and one
 * block of text with the same as JSON.
 */
export type ToolAnswer = string | object;

/** One tool of the MCP half. */
export interface PluginTool {
  /** 1 to 128 of `A-Za-z0-9_-.`, unique in the plugin. */
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of an object. Of it, `required`, `additionalProperties: false` and the `type` of each property are checked before `call`; the rest is the tool's to check. */
  readonly inputSchema: Json;
  /** What it throws is an answer with `isError`, without its text; the text goes to the log. */
  call(input: Json, call: PluginCall): ToolAnswer | Promise<ToolAnswer>;
  /** Whether `tools/list` shows it; it can be called all the same. Default true. */
  readonly listed?: boolean | undefined;
}

/** What a hook is asked, as CPEX has it. */
export interface HookInput {
  readonly payload: Json;
  readonly context: Json;
  readonly extensions: unknown;
  readonly credential: unknown;
}

/** Answers the result of the hook (`continue_processing`, `modified_payload`, `violation`); nothing is the same as `{ continue_processing: true }`. */
export type PluginHook = (input: HookInput, call: PluginCall) => Json | undefined | Promise<Json | undefined>;

/** How a plugin is. */
export interface PluginHealth {
  readonly status: "ok" | "degraded";
  readonly detail?: string | undefined;
}

/** What `servePlugin` serves. */
export interface PluginDefinition {
  /** As in plugin.json. */
  readonly name: string;
  /** As in plugin.json. */
  readonly version: string;
  /** Without it the plugin has no MCP half: say `"mcp": false` in plugin.json then. */
  readonly tools?: readonly PluginTool[] | undefined;
  /** By their names, such as `tool_pre_invoke`: at most 64. */
  readonly hooks?: Readonly<Record<string, PluginHook>> | undefined;
  /** What a model should know of the tools. */
  readonly instructions?: string | undefined;
  /** Runs once, before the first call. What it throws refuses the start. */
  readonly start?: ((call: PluginCall) => void | Promise<void>) | undefined;
  /** Default: `ok`. */
  readonly health?: (() => PluginHealth | Promise<PluginHealth>) | undefined;
  /** Runs once, after the last call. */
  readonly stop?: (() => void | Promise<void>) | undefined;
  /**
   * The descriptor that messages are written to. Default 1, from which `process.stdout` is led away to stderr. With a launcher that says
   * `exec node plugin.js 3>&1 1>&2` it is 3, and then nothing that writes to descriptor 1, no child process either, can disturb the protocol.
   */
  readonly outputDescriptor?: number | undefined;
}
