/** Reasons a host of plugins refuses. README § Errors lists what to do about each. */
export type PluginHostErrorCode =
  | "CONFIG_INVALID"
  | "KIND_UNKNOWN"
  | "OPTION_INVALID"
  | "PAYLOAD_INVALID"
  | "PROTOCOL_ERROR"
  | "CREDENTIAL_ERROR"
  | "PLUGIN_FAILED"
  | "PLUGIN_TIMEOUT"
  | "DECISION_NOT_RECORDED"
  | "HOST_CLOSED";

/** Thrown by the executor. Match on `code`; `cause` is the original error. */
export class PluginHostError extends Error {
  override readonly name = "PluginHostError";
  readonly code: PluginHostErrorCode;
  /** All faults of a configuration, each one sentence with its line. */
  readonly faults: readonly string[];

  constructor(
    code: PluginHostErrorCode,
    message: string,
    options?: ErrorOptions & { readonly faults?: readonly string[] },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.faults = options?.faults ?? [];
  }
}

/** Recognises a PluginHostError from any installed copy of the package, where `instanceof` fails. */
export function isPluginHostError(value: unknown): value is PluginHostError {
  return value instanceof Error && value.name === "PluginHostError" && "code" in value;
}
