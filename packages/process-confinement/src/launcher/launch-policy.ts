/** What a command that is launched may do; all else is refused. */
export interface LaunchPolicy {
  /** Names it for people: what the launcher says on stderr begins with it. */
  readonly name: string;
  /** Reads the system, its own program and these, whole trees at their own paths. Absolute. */
  readonly readable: readonly string[];
  /** Writes these and a private /tmp of 64 MiB. Absolute; none may lie in a readable one, nor hold one. */
  readonly writable: readonly string[];
  /** A sandbox has no route: `host` is refused. */
  readonly network: "none" | "host";
  /** Working directory, at the same path inside. It has to be seen there: one that is named above, above such a one, or below. */
  readonly cwd: string;
}

/** A command that carries its confinement out when it is executed. */
export interface LaunchCommand {
  /** Node, the launcher, its policy, and the command: to be spawned as it is, without a shell. */
  readonly argv: readonly string[];
  /** What holds it, for records. */
  readonly confinement: "bubblewrap";
  /** Nothing was made for it before it runs: it resolves at once. Here for callers that confine by other means, too. */
  release(): Promise<void>;
}

/** The form of `confine`; also fits `Confine` of `@berth/venv-host`. */
export interface ConfineCommand {
  (argv: readonly string[], policy: LaunchPolicy): Promise<LaunchCommand>;
  /** The networks that it gives. */
  readonly networks: readonly LaunchPolicy["network"][];
}
