/** How strongly the time between measuring and running is guarded. See the README's table of what each can see. */
export type Guard = "recheck" | "snapshot" | "none";

/** A file and its digest. */
export interface FileDigest {
  /** Absolute path. */
  readonly path: string;
  /** `sha256:` and 64 lower-case hexadecimal digits. */
  readonly digest: string;
}

/** The interpreter that was trusted: what `interpreterPin` returns and a catalog keeps. */
export interface InterpreterPin {
  /** Where it was found, symlinks unresolved: a virtual environment is known by this path. */
  readonly path: string;
  /** `sha256:` digest of the real interpreter at the end of the symlinks (of a shim: of the interpreter it forwards to). */
  readonly digest: string;
  /** Files that belong to it: programs run on the way (`env`, a shim) and its own shared library. Compared when given. */
  readonly parts?: readonly FileDigest[] | undefined;
}

/** What a caller wants to start. Unknown members are refused. */
export interface SpawnDescription {
  /** A bare name, looked up on `PATH` of `env`, or a path (relative to `cwd`). */
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: the current directory of this process. */
  readonly cwd?: string | undefined;
  /** The file or folder that the digest covers, relative to `cwd`. Default: found in the arguments. */
  readonly measureTarget?: string | undefined;
  /** Globs of what a folder's digest leaves out, relative to the measured folder; part of the digest. */
  readonly measureIgnore?: readonly string[] | undefined;
  /** A folder's digest leaves out nothing but `measureIgnore`: `__pycache__`, `.git` and virtual environments are in it. Default false. */
  readonly measureWhole?: boolean | undefined;
  /** Accept a `measureTarget` that the arguments do not run; the evidence says so. Default false. */
  readonly allowTargetOutsideArgv?: boolean | undefined;
  /** Default `"recheck"`. */
  readonly guard?: Guard | undefined;
  /** The pinned digest: `sha256:HEX` (that file alone) or `tree-v1:HEX` (its folder). Absent: not pinned. */
  readonly digest?: string | undefined;
  readonly interpreter?: InterpreterPin | undefined;
}

/** What is handed to the caller's spawn function: exactly this, and no shell. */
export interface Launch {
  /** The absolute path that exec gets, symlinks unresolved; under `guard: "snapshot"` the copy when it is the target. */
  readonly file: string;
  /** The command as it was written. */
  readonly argv0: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
}
