import type { RawCredentials } from "./credentials.js";
import type { Extensions } from "./extensions.js";
import type { JsonObject } from "./json.js";
import type { GlobalContext, Violation } from "./plugin-call.js";
import type { PluginMode, PluginsConfig } from "./plugin-config.js";
import type { PluginHealth, PluginKind, WaitOptions } from "./plugin-kind.js";

/** What `createPluginHost` accepts. */
export interface PluginHostOptions {
  readonly config: PluginsConfig;
  /** The kinds that this host knows; an entry of another kind is an error that names these. */
  readonly kinds: readonly PluginKind[];
  /** Told of each decision of a plugin before the answer of `run` is given: for a log. A rejection fails the hook closed. */
  readonly record?: ((decision: HookDecision) => void | Promise<void>) | undefined;
  readonly onProgress?: ((plugin: string, step: string) => void) | undefined;
  readonly onLog?: ((plugin: string, line: string) => void) | undefined;
  readonly scheduler?: Scheduler | undefined;
  readonly limits?: ExecutorLimits | undefined;
}

/** What bounds a host of plugins. */
export interface ExecutorLimits {
  /** Levels of a payload, context, extension or reply, 8 to 512. Default 128. */
  readonly maxDepth?: number | undefined;
  /** Values in one of them, 1_000 to 10_000_000. Default 1_000_000. */
  readonly maxValues?: number | undefined;
  /** Characters of all strings and names in one of them, 1_024 to 134_217_728. Default 16_777_216. */
  readonly maxTextChars?: number | undefined;
  /** For making one plugin ready, 1 to 3_600_000. Default 900_000. */
  readonly openTimeoutMs?: number | undefined;
  /** For one plugin's answer about its health, 1 to 60_000. Default 5_000. */
  readonly healthTimeoutMs?: number | undefined;
  /** Calls of fire_and_forget plugins under way, 1 to 100_000; more are skipped. Default 1_000. */
  readonly maxBackgroundCalls?: number | undefined;
  /** How long `close` waits for them, 0 to 600_000. Default 5_000. */
  readonly backgroundGraceMs?: number | undefined;
  /** How long `run` waits for the last `record` of a hook, 1 to 600_000. Default 30_000. */
  readonly recordTimeoutMs?: number | undefined;
  /** How long `close` waits for one plugin to end, 1 to 600_000. Default 30_000. */
  readonly closeTimeoutMs?: number | undefined;
}

/** Monotonic time and timers. */
export interface Scheduler {
  now(): number;
  after(delayMs: number, callback: () => void): { cancel(): void };
}

/** One request to run a hook over all plugins that have it. */
export interface HookRequest extends WaitOptions {
  readonly hook: string;
  /** In wire form. */
  readonly payload: JsonObject;
  /** Without a `requestId`, the string `request_id` of its state is taken, else a new UUID. */
  readonly globalContext: Omit<GlobalContext, "requestId"> & { readonly requestId?: string | undefined };
  readonly extensions?: Extensions | undefined;
  readonly credentials?: RawCredentials | undefined;
  /** From the hook before the same call: gives plugins their state back. */
  readonly carried?: CarriedState | undefined;
}

/** What plugins noted, for the hook after the same call: good only at the host that gave it, for the same request. */
export interface CarriedState {
  readonly requestId: string;
}

/** What all plugins together decided. */
export interface HookOutcome {
  readonly allowed: boolean;
  /** Changed by those that may, else the one that came; tokens of a credential hook's payload are placeholders. */
  readonly payload: JsonObject;
  /** The same object that came when nothing was applied. */
  readonly extensions: Extensions | undefined;
  /**
   * The last answer in a result form of its own: identity_resolve, token_delegate (the token that was made is in it),
   * http_auth_*; for http_*_request all headers that plugins set.
   */
  readonly result: JsonObject | undefined;
  /** Set when it is not allowed; made up when the plugin gave none. */
  readonly violation: (Violation & { readonly plugin: string }) | undefined;
  readonly httpHeaders: Readonly<Record<string, string>>;
  /** What plugins told beside their answers; later plugins over earlier ones, per key. */
  readonly metadata: JsonObject;
  /** The longest wait that a plugin asked for. */
  readonly retryDelayMs: number;
  readonly carried: CarriedState;
  readonly executions: readonly HookExecution[];
}

/** What one plugin did in one hook. */
export interface HookExecution {
  readonly plugin: string;
  readonly hook: string;
  readonly mode: PluginMode;
  readonly status: "allowed" | "denied" | "modified" | "failed" | "timed_out" | "skipped" | "started";
  readonly durationMs: number;
  /** Why it failed or was skipped, without secrets. */
  readonly reason: string | undefined;
}

/** An execution with the evidence of what ran. */
export interface HookDecision extends HookExecution {
  readonly requestId: string;
  readonly code: string | undefined;
  readonly evidence: Readonly<Record<string, string | number | boolean>> | undefined;
  /** What it made of the payload: hex SHA-256 of the canonical JSON (RFC 8785) as it came and as it left. Undefined: it stayed. */
  readonly change: { readonly before: string; readonly after: string } | undefined;
}

/** Runs hooks over plugins. */
export interface PluginHost extends AsyncDisposable {
  /** Names in the order in which they run, with what is known of each. */
  list(): readonly PluginStatus[];
  /** Whether any enabled plugin has the hook: else a caller can save the payload. */
  hasHook(hook: string): boolean;
  /** Starts all now, instead of each at its first call. Rejects with the first fault when `failOnPluginError` is set. */
  start(wait?: WaitOptions): Promise<void>;
  run(request: HookRequest): Promise<HookOutcome>;
  health(wait?: WaitOptions): Promise<readonly (PluginHealth & { readonly plugin: string })[]>;
  close(): Promise<void>;
}

/** A plugin as a host holds it. */
export interface PluginStatus {
  readonly name: string;
  readonly kind: string;
  readonly hooks: readonly string[];
  readonly mode: PluginMode;
  readonly priority: number;
  /** Switched off by `on_error: disable` after an error, until the process ends. */
  readonly isDisabled: boolean;
  readonly evidence: Readonly<Record<string, string | number | boolean>> | undefined;
}
