/** Reasons why a plugin does not run, or a call of it has no result. */
export type ProcessPluginErrorCode =
  | "PLUGIN_REJECTED"
  | "PLUGIN_CHANGED"
  | "CONFINEMENT_UNAVAILABLE"
  | "PLUGIN_NOT_STARTED"
  | "PLUGIN_TIMEOUT"
  | "PLUGIN_PROTOCOL"
  | "PLUGIN_EXITED"
  | "PLUGIN_NOT_ENDED"
  | "PLUGIN_NOT_RUNNING"
  | "PLUGIN_QUARANTINED"
  | "PLUGIN_UNKNOWN"
  | "PLUGIN_ANSWERED_ERROR"
  | "REQUEST_INVALID"
  | "TOO_MANY_CALLS"
  | "NOT_RECORDED"
  | "OPTION_INVALID"
  | "PLUGINS_CLOSED";

/** What a `ProcessPluginError` may say beside its message. */
export interface ProcessPluginErrorDetails extends ErrorOptions {
  /** The plugin's name, where it is known. */
  readonly plugin?: string | undefined;
  /** Every fault of a plugin that is rejected, one sentence each, with the key or the path. */
  readonly problems?: readonly string[] | undefined;
  /** What to do. */
  readonly advice?: string | undefined;
  /** What the plugin answered, for `PLUGIN_ANSWERED_ERROR`, and what is to be answered for `REQUEST_INVALID`. Its text is an attacker's. */
  readonly wire?: { readonly code: number; readonly message: string; readonly data?: unknown } | undefined;
  /** The digest that was measured, for `PLUGIN_CHANGED`, where it was. */
  readonly measured?: string | undefined;
  /** For the operator only: an escaped excerpt of what broke the protocol, at most 200 characters. */
  readonly excerpt?: string | undefined;
}

/** Thrown when a plugin is refused, fails or does not answer. Match on `code`; `cause` is the original error. */
export class ProcessPluginError extends Error {
  override readonly name = "ProcessPluginError";
  readonly code: ProcessPluginErrorCode;
  readonly plugin: string | undefined;
  readonly problems: readonly string[];
  readonly advice: string | undefined;
  readonly wire: ProcessPluginErrorDetails["wire"];
  readonly measured: string | undefined;
  readonly excerpt: string | undefined;
  constructor(code: ProcessPluginErrorCode, message: string, details: ProcessPluginErrorDetails = {}) {
    const { plugin, problems, advice, wire, measured, excerpt, ...options } = details;
    super(message, options);
    this.code = code;
    this.plugin = plugin;
    this.problems = problems ?? [];
    this.advice = advice;
    this.wire = wire;
    this.measured = measured;
    this.excerpt = excerpt;
  }
}

/** Recognises a ProcessPluginError from any installed copy of the package, where `instanceof` fails. */
export function isProcessPluginError(value: unknown): value is ProcessPluginError {
  return value instanceof Error && value.name === "ProcessPluginError" && "code" in value;
}
