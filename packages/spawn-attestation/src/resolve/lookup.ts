import { accessSync, constants } from "node:fs";
import { AttestationError, type AttestationErrorCode } from "../errors.js";
import { type BytePath, pathOfText, printable, toBuffer } from "../measure/byte-path.js";
import { busy } from "../measure/identity.js";
import { type PathTrace, tracePath } from "../measure/trace.js";

/** Where programs are looked for. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
}

/** A program on disk: the path as exec gets it, and where that leads. */
export interface FoundProgram {
  /** Absolute, neither symlinks nor `..` resolved. */
  readonly path: string;
  readonly trace: PathTrace;
}

/** What to say when a program cannot be found. */
export interface LookupNoun {
  readonly missing: AttestationErrorCode;
  /** For a message, such as `command "node"`. */
  readonly what: string;
}

/**
 * Finds a program as exec would: a bare name on `PATH` of the child's environment, anything else relative to `cwd`.
 * @throws {AttestationError} `noun.missing`, `COMMAND_NOT_A_FILE`, `COMMAND_NOT_EXECUTABLE`, `LINK_LOOP`, `UNREADABLE`.
 */
export function findProgram(word: string, around: Surroundings, noun: LookupNoun): FoundProgram {
  if (word.includes("/")) return programAt(absolute(word, around.cwd), noun);
  const folders = foldersOf(around.env["PATH"]);
  for (const folder of folders) {
    const found = executableAt(absolute(`${folder === "" ? "." : folder}/${word}`, around.cwd));
    if (found !== undefined) return found;
  }
  throw new AttestationError(noun.missing, `${noun.what} is not on PATH: ${printable(folders.join(":"))}`, {
    advice: "write the full path of the program in command, or list the PATH it is on in env",
    osCode: "ENOENT",
  });
}

/** Without PATH the system's own default (execvp(3)); an empty one names nothing, rather than the working folder. */
function foldersOf(path: string | undefined): readonly string[] {
  if (path === "") return [];
  return (path ?? "/bin:/usr/bin").split(":");
}

/** An absolute path without resolving `..`, which means something else behind a symlink. */
export function absolute(path: string, cwd: string): string {
  if (path.startsWith("/")) return path;
  return cwd.endsWith("/") ? `${cwd}${path}` : `${cwd}/${path}`;
}

function programAt(path: string, noun: LookupNoun): FoundProgram {
  const at = pathOfText(path);
  const trace = tracePath(at, { missing: noun.missing, advice: "write the path of a program that exists in command" });
  if (trace.end.kind !== "file") {
    throw new AttestationError("COMMAND_NOT_A_FILE", `${noun.what} leads to ${printable(path)}, no regular file`, {
      advice: "write the path of a program in command",
    });
  }
  refuseWithoutBit(at, noun);
  return { path, trace };
}

function refuseWithoutBit(at: BytePath, noun: LookupNoun): void {
  try {
    accessSync(toBuffer(at), constants.X_OK);
  } catch (error) {
    throw new AttestationError("COMMAND_NOT_EXECUTABLE", `${noun.what} may not be executed by this user`, {
      cause: error,
      osCode: "EACCES",
      advice: "chmod +x the file, or name its interpreter in command and the file in args",
    });
  }
}

/** What execvp(3) would take from one folder of PATH; anything that it would pass over is passed over. */
function executableAt(path: string): FoundProgram | undefined {
  try {
    const trace = tracePath(pathOfText(path), busy);
    if (trace.end.kind !== "file") return undefined;
    accessSync(toBuffer(pathOfText(path)), constants.X_OK);
    return { path, trace };
  } catch {
    // Absent, a loop, or not ours to run: execvp goes on to the next folder in each of these cases.
    return undefined;
  }
}
