import type { FileDigest, Guard, Launch } from "./description.js";

/** Languages whose interpreters are known by name; `other` is any program that was told to run a named target. */
export type InterpreterFamily =
  | "python"
  | "node"
  | "ruby"
  | "perl"
  | "deno"
  | "bun"
  | "php"
  | "java"
  | "dotnet"
  | "lua"
  | "shell"
  | "other";

/** The program that reads the target. */
export interface Interpreter {
  readonly family: InterpreterFamily;
  /** `shim`: `path` is a version manager's stand-in or a wrapper script, and `realPath` is what it said it runs. */
  readonly kind: "program" | "shim";
  /** Where it was found, symlinks unresolved. */
  readonly path: string;
  /** The file whose digest is given. */
  readonly realPath: string;
  /** What a shim answered before symlinks were resolved: the command that would replace it. Absent for a program. */
  readonly answer?: string | undefined;
  /** `sha256:` digest of `realPath`. */
  readonly digest: string;
  /** Programs run on the way to it (`env`, the shim) and its own shared library, each with its digest. */
  readonly parts: readonly FileDigest[];
}

/** What the digest is of. */
export interface Target {
  /** The real file that runs, or what `measureTarget` named. */
  readonly path: string;
  /** The word of the command line that leads to it, of the command its full path; absent when it is outside argv. */
  readonly argument?: string | undefined;
  /** False: the arguments do not run it, and the caller allowed that. */
  readonly inArgv: boolean;
}

/** How much of what runs the digest covers. */
export interface Coverage {
  readonly scope: "file" | "tree";
  /** The file or folder that was digested. */
  readonly root: string;
  /** Globs outside a tree's digest; they are part of it. Empty for a file. */
  readonly ignore: readonly string[];
  /**
   * What may run and was not measured, one line each, as `kind` or `kind:detail`. Kinds: `hoisted-modules`,
   * `site-packages`, `standard-library`, `siblings`, `preload`, `environment`, `ignored`, `remote-modules`,
   * `called-programs`.
   */
  readonly leavesOut: readonly string[];
}

/** What was found and measured; plain values, fit for a record. */
export interface Measurement {
  /** `sha256:HEX` of a file or `tree-v1:HEX` of a folder. */
  readonly digest: string;
  readonly launch: Launch;
  /** What exec gets, and the real file behind it. */
  readonly executable: { readonly path: string; readonly realPath: string; readonly digest: string };
  /** Absent when the executable is itself the target and needs none. */
  readonly interpreter?: Interpreter | undefined;
  readonly target: Target;
  readonly coverage: Coverage;
  readonly guard: Guard;
  /** Files and bytes that the digest covers. */
  readonly files: number;
  readonly bytes: number;
  /** What a person may want to know although nothing is refused. */
  readonly warnings: readonly string[];
}
