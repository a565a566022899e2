import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { ConfinementError } from "../errors.js";
import { listOrNone, readOr } from "../machine/read-or.js";

/** Where a Python really lives. */
export interface Interpreter {
  /** What to execute: of a virtual environment its own `python`, since that is how it knows itself; else the real file. */
  readonly file: string;
  /** `sys.base_prefix`: launcher, library and standard library lie below. */
  readonly base: string;
  /** The virtual environment, when it is one. */
  readonly environment: string | undefined;
  /** Trees outside /usr that it needs at their own paths, outermost first. */
  readonly trees: readonly string[];
}

/**
 * Finds the real interpreter behind a path: a shim of pyenv, a link, a virtual environment, uv's, the system's.
 * @param path Absolute.
 * @throws {ConfinementError} `INTERPRETER_NOT_FOUND`.
 */
export function findInterpreter(path: string): Interpreter {
  const found = tryFindInterpreter(path);
  if (found !== undefined) return found;
  throw new ConfinementError("INTERPRETER_NOT_FOUND", `${path} is no Python with a standard library of its own`, {
    field: "file",
    cure: "name the interpreter itself, such as /usr/bin/python3, or the bin/python of a virtual environment",
  });
}

/** As `findInterpreter`; undefined when the file is there and is no Python. */
export function tryFindInterpreter(path: string): Interpreter | undefined {
  const program = followShim(path);
  const environment = dirname(dirname(program));
  const home = readHome(environment);
  if (home === undefined || !isPythonName(program)) return describe(realFile(program), undefined);
  // The launcher of an environment is a link to the base's, or (--copies) a small program that finds the base by `home`.
  const launcher = realFile(program);
  const inBase = launcher.startsWith(`${realFile(environment)}/`) ? realFile(join(home, basename(launcher))) : launcher;
  const base = describe(inBase, undefined);
  return base && { ...base, file: program, environment, trees: outsideUsr([environment, ...base.trees]) };
}

function describe(file: string, environment: string | undefined): Interpreter | undefined {
  const base = dirname(dirname(file));
  if (!isPythonName(file) || !holdsStandardLibrary(base)) return undefined;
  if (tooWide(base))
    throw new ConfinementError("INTERPRETER_NOT_FOUND", `${file} would bring all of ${base} into the sandbox`, {
      field: "file",
      cure: "use an interpreter with a folder of its own, such as one of pyenv or uv",
    });
  return { file, base, environment, trees: outsideUsr([base]) };
}

/** Other programs of the same folder are none: `pip` is a script. */
function isPythonName(file: string): boolean {
  return /^(?:python|pypy)[\d.]*t?$/.test(basename(file));
}

function outsideUsr(trees: readonly string[]): readonly string[] {
  return trees.filter((tree) => tree !== "/usr" && !tree.startsWith("/usr/"));
}

/** `lib/python3.N/os.py` is the landmark by which Python finds its own prefix (Modules/getpath.py). */
function holdsStandardLibrary(prefix: string): boolean {
  return ["lib", "lib64"].some((folder) =>
    listOrNone(join(prefix, folder)).some(
      (name) => /^python3\.\d+t?$/.test(name) && existsSync(join(prefix, folder, name, "os.py")),
    ),
  );
}

/** A home or the root as a prefix: binding it would show everything in it. */
function tooWide(prefix: string): boolean {
  return (
    prefix === "/" || prefix === homedir() || dirname(prefix) === "/home" || prefix === "/root" || prefix === "/opt"
  );
}

/** `pyvenv.cfg` lies beside the folder of a virtual environment's programs and names the base's (PEP 405). */
function readHome(environment: string): string | undefined {
  return /^home\s*=\s*(\/.*?)\s*$/m.exec(readOr(join(environment, "pyvenv.cfg"), ""))?.[1];
}

/**
 * A shim of pyenv is a shell script that asks for the version at each call. We take the one that is set for everybody, since
 * that of a folder or a shell depends on who asks.
 */
function followShim(path: string): string {
  if (basename(dirname(path)) !== "shims") return path;
  const root = /^export PYENV_ROOT="(\/.*)"$/m.exec(readOr(path, ""))?.[1];
  if (root === undefined) return path;
  const versions = readOr(join(root, "version"), "").split(/\s+/).filter(Boolean);
  const programs = versions.map((version) => join(root, "versions", version, "bin", basename(path)));
  return programs.find((program) => existsSync(program)) ?? path;
}

function realFile(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (cause) {
    throw new ConfinementError("INTERPRETER_NOT_FOUND", `${path} cannot be resolved`, { field: "file", cause });
  }
}
