/** What was installed, as the environment's own records say and as it was measured after the build. */
export interface EnvironmentEvidence {
  /** Hex SHA-256 over the canonical form of all other members: one value that stands for the environment. */
  readonly digest: string;
  readonly key: string;
  readonly interpreter: {
    /** Where links lead. */
    readonly path: string;
    /** For instance `3.11.7`. */
    readonly version: string;
    /** Hex SHA-256 of the executable. */
    readonly sha256: string;
  };
  /** For instance `uv 0.13.9`, `pip 25.1`, or `none` when nothing was installed. */
  readonly installer: string;
  /** What held the install: `bubblewrap`, or `none`. */
  readonly confinement: string;
  /** Whether code of a source distribution was run to build it, or may have been: pip does not always tell. */
  readonly builtFromSource: boolean;
  /** In order of their names. */
  readonly distributions: readonly InstalledDistribution[];
}

/** One distribution. */
export interface InstalledDistribution {
  /** Normalised as PyPI does it. */
  readonly name: string;
  readonly version: string;
  /** Hex SHA-256 of its RECORD file, in which each of its files has a hash; undefined for one without RECORD. */
  readonly recordSha256: string | undefined;
}
