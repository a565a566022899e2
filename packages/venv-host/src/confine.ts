/** What a confined process may do; all else is refused. */
export interface ConfinePolicy {
  /** Names it for people, in errors and reports. */
  readonly name: string;
  /** Reads the system and these; absolute paths. */
  readonly readable: readonly string[];
  /** Writes these and a private temporary folder; absolute paths. */
  readonly writable: readonly string[];
  /** `host`: the machine's own network, for an install that needs an index. */
  readonly network: "none" | "host";
  /** Working directory, at the same path inside and outside. */
  readonly cwd: string;
}

/** A command that carries its confinement out when it is executed. */
export interface ConfinedCommand {
  readonly argv: readonly string[];
  /** What holds it, for evidence: for instance `bubblewrap`. */
  readonly confinement: string;
  /** Frees what was made for this one command. */
  release(): Promise<void>;
}

/**
 * Turns a command into its confined form, as `confine` of `@berth/process-confinement/launcher` does. Rejects when this machine
 * cannot hold the policy; it is never run without. The environment of the process is given where it is spawned, and is not
 * changed here.
 */
export interface Confine {
  (argv: readonly string[], policy: ConfinePolicy): Promise<ConfinedCommand>;
  /** The networks that it can give, so that others are refused before anything is started. Left out: every one. */
  readonly networks?: readonly ConfinePolicy["network"][] | undefined;
}
