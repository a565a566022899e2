import { accessSync, closeSync, constants, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { ConfinementError } from "../errors.js";
import { readElfLibraries } from "./elf-libraries.js";
import { tryFindInterpreter } from "./find-interpreter.js";

/** What a program needs inside. */
export interface Program {
  /** What is executed. */
  readonly file: string;
  /** Trees and files outside the system's own, which are bound at their own paths. */
  readonly trees: readonly string[];
  /** The interpreter of a Python program. */
  readonly python: string | undefined;
}

/** A script whose interpreter is a script: the kernel goes on so far (BINPRM_MAX_RECURSION is 4). */
const maxScripts = 4;

/**
 * Finds what a program needs: for a Python all of it, for a script its interpreter too, for a dynamic program the folders that
 * it names itself for its libraries. Libraries that lie elsewhere outside /usr, and what they need, are not found: bind them.
 * @throws {ConfinementError} `PATH_NOT_FOUND`, `INTERPRETER_NOT_FOUND`.
 */
export function findProgram(path: string, scripts = 0): Program {
  const real = resolveProgram(path);
  const interpreter = tryFindInterpreter(path);
  if (interpreter !== undefined) return { ...interpreter, python: interpreter.file };
  // As it was named where the name is there inside, too: programs such as busybox do what they are called.
  const file = isSystem(path) && isSystem(real) ? path : real;
  const own = isSystem(real) ? [] : [real];
  const head = readHead(real);
  if (head.startsWith("#!") && scripts < maxScripts) {
    const [by = ""] = head.slice(2).trim().split(/\s/);
    const through = by.startsWith("/") && existsSync(by) ? findProgram(by, scripts + 1) : undefined;
    return { file, trees: [...own, ...(through?.trees ?? [])], python: through?.python };
  }
  return { file, trees: [...own, ...libraryTrees(real)], python: undefined };
}

const systemTrees = ["/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/libx32/"];

function isSystem(path: string): boolean {
  return systemTrees.some((tree) => path.startsWith(tree));
}

function libraryTrees(real: string): readonly string[] {
  const libraries = readElfLibraries(real);
  if (libraries === undefined) return [];
  const { loader, folders } = libraries;
  return [...(loader === undefined ? [] : [loader]), ...folders]
    .filter((tree) => tree !== "/" && existsSync(tree))
    .map((tree) => realpathSync.native(tree))
    .filter((tree) => tree !== "/" && tree !== "/usr" && !isSystem(tree));
}

/** The first line, or what of it the kernel reads. */
function readHead(path: string): string {
  const buffer = Buffer.alloc(256);
  const descriptor = openSync(path, "r");
  try {
    const length = readSync(descriptor, buffer, 0, buffer.length, 0);
    return buffer.toString("latin1", 0, length).split("\n")[0] ?? "";
  } finally {
    closeSync(descriptor);
  }
}

function resolveProgram(path: string): string {
  try {
    const real = realpathSync.native(path);
    accessSync(real, constants.X_OK | constants.R_OK);
    if (statSync(real).isFile()) return real;
  } catch (cause) {
    throw new ConfinementError("PATH_NOT_FOUND", `file: ${path} cannot be executed`, { field: "file", cause });
  }
  throw new ConfinementError("PATH_NOT_FOUND", `file: ${path} is not a file`, { field: "file" });
}
