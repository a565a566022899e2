import { AttestationError } from "../errors.js";
import { type BytePath, inFolder, parentOf, pathOfText, shown, toText } from "../measure/byte-path.js";
import { baseName, type Followed } from "./follow.js";
import { isFolder, namesIn } from "./package-root.js";
import type { ArgumentScan } from "./script-argument.js";

/** The glob that leaves compiled code out, where the child is kept from reading any. */
export const compiledCode = "**/__pycache__";

/**
 * Whether the child can be kept from running compiled code beside its sources: then `__pycache__` is outside the digest.
 * Not under `-I` and `-E`, which ignore the variables, nor where `env` takes them away, nor before Python 3.8, which
 * does not know PYTHONPYCACHEPREFIX: there `__pycache__` is measured like the rest.
 * @throws {AttestationError} `PYTHON_CACHE_REDIRECTED`
 */
export function keepsFromCache(followed: Followed, scan: ArgumentScan): boolean {
  const redirect = scan.options.find((option) => option.startsWith("-X pycache_prefix"));
  if (redirect !== undefined) {
    throw new AttestationError(
      "PYTHON_CACHE_REDIRECTED",
      `${redirect} names a folder of compiled code that would run unmeasured`,
      {
        advice: "leave -X pycache_prefix out of args; a fresh private folder is set in its place",
      },
    );
  }
  if (followed.clearsEnvironment || ignoresVariables(scan)) return false;
  const version = followed.kind === "shim" ? undefined : versionOf(followed.program.trace.realPath);
  return followed.kind === "shim" || (version !== undefined && knowsCachePrefix(version));
}

export function ignoresVariables(scan: ArgumentScan): boolean {
  return scan.options.includes("-I") || scan.options.includes("-E");
}

/** Major and minor of an interpreter, from its name or from the library folder beside it. */
export function versionOf(interpreter: BytePath): readonly [number, number] | undefined {
  const inName = readVersion(baseName(toText(interpreter)));
  if (inName !== undefined) return inName;
  const library = inFolder(parentOf(parentOf(interpreter)), pathOfText("lib"));
  const versions = namesIn(library)
    .filter((name) => isFolder(inFolder(library, pathOfText(name))))
    .map(readVersion)
    .filter((version) => version !== undefined);
  return versions.length === 1 ? versions[0] : undefined;
}

function readVersion(name: string): readonly [number, number] | undefined {
  const found = /^(?:python|pypy)(\d+)\.(\d+)/.exec(name);
  return found === null ? undefined : [Number(found[1]), Number(found[2])];
}

export function knowsCachePrefix([major, minor]: readonly [number, number]): boolean {
  return major > 3 || (major === 3 && minor >= 8);
}

/** @throws {AttestationError} `PYTHON_CACHE_REDIRECTED` when the interpreter behind a shim is too old for the variable. */
export function refuseOldPython(interpreter: BytePath): void {
  const version = versionOf(interpreter);
  if (version !== undefined && knowsCachePrefix(version)) return;
  throw new AttestationError(
    "PYTHON_CACHE_REDIRECTED",
    `${shown(interpreter)} (Python ${version?.join(".") ?? "of unknown version"}) cannot be kept from running compiled code in __pycache__`,
    { advice: "write the real interpreter in command instead of its shim, so that __pycache__ is measured" },
  );
}
