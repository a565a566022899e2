import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { ConfinementError } from "./errors.js";
import { tryFindInterpreter } from "./find-interpreter.js";

/** What a program needs inside. */
export interface Program {
  /** What is executed. */
  readonly file: string;
  /** Trees and files outside /usr, which are bound at their own paths. */
  readonly trees: readonly string[];
  /** The interpreter of a Python program. */
  readonly python: string | undefined;
}

/**
 * Finds what a program needs: for a Python all of it, for others the file itself.
 * @throws {ConfinementError} `PATH_NOT_FOUND`, `INTERPRETER_NOT_FOUND`.
 */
export function findProgram(path: string): Program {
  const real = resolveProgram(path);
  const interpreter = tryFindInterpreter(path);
  if (interpreter !== undefined) return { file: interpreter.file, trees: interpreter.trees, python: interpreter.file };
  return { file: real, trees: real.startsWith("/usr/") ? [] : [real], python: undefined };
}

function resolveProgram(path: string): string {
  try {
    const real = realpathSync.native(path);
    accessSync(real, constants.X_OK);
    if (statSync(real).isFile()) return real;
  } catch (cause) {
    throw new ConfinementError("PATH_NOT_FOUND", `file: ${path} cannot be executed`, { field: "file", cause });
  }
  throw new ConfinementError("PATH_NOT_FOUND", `file: ${path} is not a file`, { field: "file" });
}
