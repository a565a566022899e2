import type { InstanceOptions, PluginInstance, PluginLogLine, WaitOptions } from "../instance/instance.js";
import type { InspectOptions } from "../tree/inspected-plugin.js";

/** One plugin that a supervisor holds. */
export interface SupervisedPlugin
  extends Pick<InstanceOptions, "interpreters" | "readOnly" | "allowUnconfined" | "timeouts" | "limits">,
    Pick<InspectOptions, "digest"> {
  /** How the host calls it, also in events and the log: its manifest's name where it has none of its own. Unique in the supervisor. */
  readonly name: string;
  /** The plugin's folder. */
  readonly folder: string;
  /** Absolute. Lies neither in that of another plugin or in a plugin's folder, nor around them. */
  readonly dataFolder: string;
}

/** What `createPluginSupervisor` accepts. */
export interface SupervisorOptions extends Pick<InstanceOptions, "host" | "record" | "scheduler"> {
  readonly plugins: readonly SupervisedPlugin[];
  /** Ends of its own that are one too many: 1 to 1_000. Default 3 in 60_000 ms, then quarantine. */
  readonly maxCrashes?: number | undefined;
  /** 1_000 to 86_400_000. Default 60_000. */
  readonly crashWindowMs?: number | undefined;
  /** Instances that start at once: 1 to 256. Default 4. */
  readonly maxStarts?: number | undefined;
  readonly onLog?: ((plugin: string, line: PluginLogLine) => void) | undefined;
}

/** What is known of one plugin. */
export interface PluginStanding {
  readonly name: string;
  readonly state: "idle" | "starting" | "running" | "ending" | "failed" | "rejected" | "quarantined";
  /** Of the running instance. */
  readonly instance: string | undefined;
  readonly version: string | undefined;
  /** What was measured at the first start, or admitted: another one is refused from then on. */
  readonly digest: string | undefined;
  readonly confinement: "bubblewrap" | "unconfined" | undefined;
  /** Ends of its own within the window. */
  readonly crashes: number;
  /** Why it does not run, one sentence. */
  readonly message: string | undefined;
}

/** Many plugins, each in at most one instance at a time; one that fails costs the others nothing. */
export interface PluginSupervisor extends AsyncDisposable {
  list(): readonly PluginStanding[];
  /**
   * The running instance; starts one where there is none. Those who ask at once get the same one.
   * @throws {ProcessPluginError} `PLUGIN_UNKNOWN`, `PLUGIN_QUARANTINED`, `PLUGINS_CLOSED`, `PLUGIN_NOT_RUNNING` when it is stopped while it starts, and as `inspectPlugin` and `openInstance`. Also the signal's reason: the start goes on for others.
   */
  instance(name: string, wait?: WaitOptions): Promise<PluginInstance>;
  /** Ends the quarantine, and forgets the crashes. */
  release(name: string): Promise<void>;
  /** Ends its instance, if there is one; the next `instance` starts anew. That is no crash. */
  stop(name: string): Promise<void>;
  /** Ends all. Call as often as you like. @throws {ProcessPluginError} `PLUGIN_NOT_ENDED`, after all others have ended. */
  close(): Promise<void>;
}
