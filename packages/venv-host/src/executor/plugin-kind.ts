import type { PluginCall, PluginReply } from "./plugin-call.js";
import type { PluginEntry } from "./plugin-config.js";

/** What ends a wait. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
}

/** What runs the code of one plugin. */
export interface RunningPlugin extends AsyncDisposable {
  /** Which code answers, for evidence: members of plain JSON, no secrets. Undefined for code of the host's own process. */
  readonly evidence: Readonly<Record<string, string | number | boolean>> | undefined;
  /**
   * Runs one hook, at most once: a call that was handed over is never sent again. Rejects with what went wrong, or with the
   * signal's reason; the executor applies `onError` to it.
   */
  call(call: PluginCall, wait: WaitOptions): Promise<PluginReply>;
  /** Whether it would answer, without running a hook. */
  health(wait: WaitOptions): Promise<PluginHealth>;
  /** Ends it; nothing of it is left when this resolves. Call as often as you like. */
  close(): Promise<void>;
}

/** How a plugin does. */
export interface PluginHealth {
  /** `idle`: not started yet, or ended and to be started by the next call. */
  readonly state: "ready" | "idle" | "failed";
  /** One sentence for people; why, when it is `failed`. */
  readonly message: string;
}

/** A way in which plugins are run, as `kind` in plugins.yaml names it. */
export interface PluginKind {
  /** For instance `isolated_venv` or `process`. */
  readonly name: string;
  /**
   * Checks the entry's own configuration, before anything is started.
   * @returns Faults, each one sentence that names the key; none when it is good.
   */
  check(entry: PluginEntry): readonly string[];
  /** Makes the plugin ready for calls: builds what it needs, checks its features. Rejects with a reason for people. */
  open(entry: PluginEntry, options: OpenPluginOptions): Promise<RunningPlugin>;
}

/** What a kind is told when it opens a plugin. */
export interface OpenPluginOptions extends WaitOptions {
  /** Long work in small steps, for a person: `installing 12 packages`. Must not throw. */
  readonly onProgress: (step: string) => void;
  /** Lines that the plugin wrote for its operator. Must not throw. */
  readonly onLog: (line: string) => void;
}
