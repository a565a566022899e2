import type { FileDigest, Guard, InterpreterPin, SpawnDescription } from "./description.js";
import { AttestationError } from "./errors.js";

/** A description that was checked, with its defaults; the only form that internal code sees. */
export interface LaunchTerms extends SpawnDescription {
  readonly cwd: string;
  readonly guard: Guard;
}

const members: ReadonlySet<string> = new Set([
  ...["command", "args", "env", "cwd", "measureTarget", "measureIgnore", "measureWhole", "guard", "digest"],
  ...["allowTargetOutsideArgv", "interpreter"],
]);
const guards: ReadonlySet<string> = new Set(["recheck", "snapshot", "none"]);
const fileDigest = /^sha256:[0-9a-f]{64}$/;
const anyDigest = /^(?:sha256|tree-v1):[0-9a-f]{64}$/;

/** Bounds of what a description may hold; the kernel's own are near (execve(2)). */
const maxWords = 4_096;
const maxTextLength = 131_072;

/**
 * Checks a description once, where it enters.
 * @throws {AttestationError} `DESCRIPTION_INVALID`, naming the member.
 */
export function readTerms(description: SpawnDescription, currentFolder: () => string): LaunchTerms {
  if (typeof description !== "object" || description === null) throw invalid("*", "is not an object");
  const unknown = Object.keys(description).find((key) => !members.has(key));
  if (unknown !== undefined) throw invalid(unknown, "is not a member of a spawn description");
  checkText("command", description.command);
  if (description.command === "") throw invalid("command", "is empty");
  checkList("args", description.args);
  checkEnvironment(description.env);
  if (description.measureTarget !== undefined) checkText("measureTarget", description.measureTarget);
  if (description.measureIgnore !== undefined) checkList("measureIgnore", description.measureIgnore);
  const { allowTargetOutsideArgv = false, measureWhole = false, guard = "recheck", digest } = description;
  if (typeof allowTargetOutsideArgv !== "boolean") throw invalid("allowTargetOutsideArgv", "is not true or false");
  if (typeof measureWhole !== "boolean") throw invalid("measureWhole", "is not true or false");
  if (!guards.has(guard)) throw invalid("guard", 'is not "recheck", "snapshot" or "none"');
  if (digest !== undefined && !(typeof digest === "string" && anyDigest.test(digest))) {
    throw invalid("digest", "is neither sha256: nor tree-v1: and 64 lower-case hexadecimal digits");
  }
  if (description.interpreter !== undefined) checkPin(description.interpreter);
  return { ...description, guard, cwd: readCwd(description.cwd, currentFolder) };
}

function readCwd(cwd: string | undefined, currentFolder: () => string): string {
  if (cwd === undefined) return currentFolder();
  checkText("cwd", cwd);
  if (cwd === "") throw invalid("cwd", "is empty");
  return cwd.startsWith("/") ? cwd : `${currentFolder()}/${cwd}`;
}

function checkText(key: string, value: unknown): void {
  if (typeof value !== "string") throw invalid(key, "is not a text");
  if (value.includes("\0")) throw invalid(key, "holds a NUL character");
  if (value.length > maxTextLength) throw invalid(key, `has more than ${maxTextLength} characters`);
  if (/\p{Surrogate}/u.test(value)) throw invalid(key, "holds half of a surrogate pair");
}

function checkList(key: string, value: unknown): void {
  if (!Array.isArray(value)) throw invalid(key, "is not a list of texts");
  if (value.length > maxWords) throw invalid(key, `has more than ${maxWords} entries`);
  value.forEach((each, index) => {
    checkText(`${key}[${index}]`, each);
  });
}

function checkEnvironment(env: Readonly<Record<string, string>>): void {
  if (typeof env !== "object" || env === null) throw invalid("env", "is not an object of texts");
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || /[=\0]/.test(name)) throw invalid(`env ${JSON.stringify(name)}`, "is not a variable name");
    checkText(`env ${JSON.stringify(name)}`, value);
  }
}

function checkPin(pin: InterpreterPin): void {
  if (typeof pin !== "object" || pin === null) throw invalid("interpreter", "is not an object");
  checkText("interpreter.path", pin.path);
  const parts = pin.parts ?? [];
  if (!Array.isArray(parts)) throw invalid("interpreter", "has parts that are no list");
  const digests = [pin.digest, ...parts.map((part: FileDigest) => part.digest)];
  if (digests.every((digest) => typeof digest === "string" && fileDigest.test(digest))) return;
  throw invalid("interpreter", "has a digest that is not sha256: and 64 lower-case hexadecimal digits");
}

function invalid(key: string, why: string): AttestationError {
  return new AttestationError("DESCRIPTION_INVALID", `spawn.${key} ${why}`, { advice: `correct spawn.${key}` });
}
