import type { Scheduler } from "@berth/jsonrpc-framing";
import type { Confine } from "../confine.js";
import type { AcquireOptions, EnvironmentRequest } from "../environments/environment-store.js";
import type { EnvironmentEvidence } from "../environments/evidence.js";
import type { WorkerLimits } from "../worker/worker.js";

/** What `isolatedVenv` accepts. */
export interface IsolatedVenvOptions {
  /** Gives a plugin its environment: `store.acquire`, or a function that looks for an installed one first. */
  readonly acquire: AcquirePluginEnvironment;
  /** Absolute; its folder `plugins` holds the plugins' code. Default: that of the process. */
  readonly cwd?: string | undefined;
  /** Confines the workers of entries with `confine`. Without it such an entry is a fault. */
  readonly confine?: Confine | undefined;
  /** What workers get of it: see `workerEnvironment`. Default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Of each worker; an entry's own `max_content_size` and `timeout_secs` go before them. */
  readonly limits?: WorkerLimits | undefined;
  /**
   * A plugin is opened only when its class can be imported, which is tried in a process of its own first; that runs the
   * module's code once more. Default false: the first hook imports it.
   */
  readonly importsFirst?: boolean | undefined;
  readonly scheduler?: Scheduler | undefined;
}

/** Makes or finds the environment of one plugin. `plugin` is what the store does not need to know. */
export type AcquirePluginEnvironment = (
  request: EnvironmentRequest,
  options: AcquireOptions,
  plugin: PluginOfEnvironment,
) => Promise<PluginEnvironment>;

/** Whose environment is wanted. */
export interface PluginOfEnvironment {
  readonly name: string;
  /** `<cwd>/plugins`, absolute, without links. */
  readonly pluginsFolder: string;
  readonly className: string;
  /** As in the entry's config. */
  readonly requirementsFile: string | undefined;
  readonly version: string | undefined;
  readonly scriptPath?: string | undefined;
}

/** An environment as a plugin uses it; every HeldEnvironment is one. */
export interface PluginEnvironment {
  readonly path: string;
  /** Its interpreter, absolute. */
  readonly python: string;
  /** Where it is known. */
  readonly sitePackages?: string | undefined;
  readonly key?: string | undefined;
  /** Undefined for one that somebody else installed. */
  readonly evidence?: EnvironmentEvidence | undefined;
  close(): Promise<void>;
}
