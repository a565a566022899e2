import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { ChildTerms } from "./child-terms.js";
import { StdioTransportError } from "./errors.js";

/** What a shell adds to the environment of its own accord; taken out again unless the caller listed it. */
const addedByShells: readonly string[] = ["PWD", "OLDPWD", "SHLVL"];

/**
 * The environment for the shell supervisor, which passes its own on to the command. Refuses what a shell cannot do.
 * @throws {StdioTransportError} `OPTION_INVALID` for an argv[0] other than the file and for names that are no shell names;
 * `CHILD_NOT_STARTED` for a file that is absent or not executable, since a shell does not tell that from its own exit.
 */
export function shellEnvironment(terms: ChildTerms): Record<string, string> {
  if (terms.argv[0] !== terms.file) throw unable(`argv0 ${JSON.stringify(terms.argv[0])} is not the file`);
  const odd = Object.keys(terms.env).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (odd !== undefined) throw unable(`a shell drops the variable ${JSON.stringify(odd)}`);
  checkExecutable(terms);
  const unset = addedByShells.filter((name) => terms.env[name] === undefined);
  return { ...terms.env, UNSET: unset.join(" ") };
}

function unable(what: string): StdioTransportError {
  return new StdioTransportError("OPTION_INVALID", `${what}: that needs perl (Debian: perl-base, Alpine: perl)`);
}

function checkExecutable({ file, env, cwd }: ChildTerms): void {
  const folders = file.includes("/") ? [""] : (env["PATH"] ?? "/usr/bin:/bin").split(delimiter);
  const reasons = folders.map((folder) => executableFault(folder === "" ? resolveIn(cwd, file) : join(folder, file)));
  if (reasons.includes(undefined)) return;
  const reason = reasons.find((each) => each !== "ENOENT") ?? "ENOENT";
  throw new StdioTransportError("CHILD_NOT_STARTED", `cannot execute ${file}: ${reason}`, { reason });
}

function resolveIn(cwd: string | undefined, file: string): string {
  return cwd === undefined || file.startsWith("/") ? file : join(cwd, file);
}

function executableFault(path: string): "ENOENT" | "EACCES" | "ENOEXEC" | undefined {
  try {
    if (!statSync(path).isFile()) return "EACCES";
    accessSync(path, constants.X_OK);
    return isProgram(path) ? undefined : "ENOEXEC";
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EACCES" ? "EACCES" : "ENOENT";
  }
}

/** How programs begin: `#!`, ELF, and Mach-O in both byte orders and for many architectures. A shell takes all else for a script. */
const beginnings: readonly string[] = ["2321", "7f454c46", "feedfacf", "cffaedfe", "feedface", "cefaedfe", "cafebabe"];

function isProgram(path: string): boolean {
  const head = Buffer.alloc(4);
  const file = openSync(path, "r");
  try {
    const read = head.toString("hex", 0, readSync(file, head));
    return beginnings.some((beginning) => read.startsWith(beginning));
  } finally {
    closeSync(file);
  }
}
