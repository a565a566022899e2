/** An environment in a plugin's own folder, as the Python command line and the Rust host make it (CPEX fact sheet § 5). */
export interface InstalledEnvironment {
  /** `plugins/<class_root>/.venv`, absolute. */
  readonly path: string;
  readonly verdict: InstalledVerdict;
  /** The file whose metadata decided; undefined when there is none. */
  readonly metadata: string | undefined;
  /** What is missing, for `files missing`. */
  readonly why?: string | undefined;
}

/** Whether it may be used as it is; in the order in which it is looked at. */
export type InstalledVerdict =
  | "valid"
  | "venv missing"
  | "metadata missing"
  | "metadata unreadable"
  | "requirements changed"
  | "manifest version changed"
  | "manifest hash changed"
  /** Its notes are valid, and something that Python loads is gone. */
  | "files missing";

/** What `findInstalledEnvironment` needs to know. */
export interface InstalledEnvironmentOptions {
  /** `<cwd>/plugins`, absolute. */
  readonly pluginsFolder: string;
  /** The whole class name: `pii.filters.PiiFilter`. */
  readonly className: string;
  /** As in the entry's config; relative to the class root's folder. */
  readonly requirementsFile: string | undefined;
  /** The entry's version; undefined: no signal. */
  readonly version: string | undefined;
  /** The worker's file, as in the entry's config. Default `cpex/framework/isolated/worker.py`; an absolute one is not looked for. */
  readonly scriptPath?: string | undefined;
}

/** Who says that it uses an installed environment. */
export interface InstalledClaim extends AsyncDisposable {
  /** Takes the claim back, unless another host of ours still has the same one. */
  close(): Promise<void>;
}

/** How a claim waits for another host that changes the owners. */
export interface ClaimOptions {
  readonly signal?: AbortSignal | undefined;
}
