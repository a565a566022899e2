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
  readonly globalContext: GlobalContext;
  readonly extensions?: Extensions | undefined;
  readonly credentials?: RawCredentials | undefined;
  /** From the hook before the same call: gives plugins their state back. */
  readonly carried?: CarriedState | undefined;
}

/** What plugins noted; opaque, of the host that gave it. */
export interface CarriedState {
  readonly byPlugin: ReadonlyMap<string, JsonObject>;
}

/** What all plugins together decided. */
export interface HookOutcome {
  readonly allowed: boolean;
  /** Changed by those that may, else the one that came. */
  readonly payload: JsonObject;
  /** The same object that came when nothing was applied. */
  readonly extensions: Extensions | undefined;
  /** The answer of an identity or delegation hook, in its result form. */
  readonly result: JsonObject | undefined;
  /** Set when it is not allowed; made up when the plugin gave none. */
  readonly violation: (Violation & { readonly plugin: string }) | undefined;
  readonly httpHeaders: Readonly<Record<string, string>>;
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
