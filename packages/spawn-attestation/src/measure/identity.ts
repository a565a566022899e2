import { type BigIntStats, lstatSync } from "node:fs";
import { AttestationError, type AttestationErrorCode } from "../errors.js";
import { type BytePath, shown, toBuffer } from "./byte-path.js";

/** What a name on disk leads to, and by which it is known again. Plain values, so that threads can exchange it. */
export interface Identity {
  readonly kind: "folder" | "link" | "file" | "special";
  readonly dev: bigint;
  readonly ino: bigint;
  readonly mode: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

export function identityOf(stat: BigIntStats): Identity {
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = stat;
  return { kind: kindOf(stat), dev, ino, mode, size, mtimeNs, ctimeNs };
}

export function kindOf(stat: BigIntStats): Identity["kind"] {
  if (stat.isDirectory()) return "folder";
  if (stat.isSymbolicLink()) return "link";
  return stat.isFile() ? "file" : "special";
}

/**
 * Whether a name still leads to the same thing. A folder may have gained or lost entries, which moves both its times;
 * a change time that moved alone means that the folder itself was renamed or changed, so it counts as another.
 */
export function isSame(before: Identity, after: Identity): boolean {
  const same = (key: keyof Identity): boolean => before[key] === after[key];
  if (!(same("kind") && same("dev") && same("ino") && same("mode"))) return false;
  if (before.kind === "folder") return same("ctimeNs") || !same("mtimeNs");
  return same("size") && same("mtimeNs") && same("ctimeNs");
}

/** All of an identity in one text; of a folder without its times when `strictFolders` is false. */
export function identityText(identity: Identity, strictFolders = true): string {
  const { kind, dev, ino, mode, size, mtimeNs, ctimeNs } = identity;
  const known = `${kind} ${dev} ${ino} ${mode}`;
  if (kind === "folder") return strictFolders ? `${known} ${mtimeNs} ${ctimeNs}` : known;
  return `${known} ${size} ${mtimeNs} ${ctimeNs}`;
}

/** Any of the three execute bits. */
export function isExecutable({ mode }: Identity): boolean {
  return (mode & 0o111n) !== 0n;
}

export function identify(path: BytePath, codes: FaultCodes): Identity {
  return identityOf(atPath(path, codes, () => lstatSync(toBuffer(path), { bigint: true })));
}

/** Which code says that a path is absent, and what a person can do about a path that leads nowhere. */
export interface FaultCodes {
  readonly missing: AttestationErrorCode;
  readonly advice: string;
}

/** For a file that was there a moment ago. */
export const busy: FaultCodes = { missing: "FILE_CHANGED", advice: "try again when nothing writes to it" };

/** Runs a file system call and turns the system's error into one of ours, with the path and the system's code. */
export function atPath<T>(path: BytePath, codes: FaultCodes, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw faultAt(path, codes, error);
  }
}

/** `at` is the part of the path where it failed. */
export function faultAt(
  path: BytePath,
  { missing, advice }: FaultCodes,
  error: unknown,
  at: BytePath = path,
): AttestationError {
  const osCode = systemCode(error);
  const why = `${osCode ?? "unknown error"}${at === path ? "" : ` at ${shown(at)}`}`;
  const options = { cause: error, osCode, advice };
  if (osCode === "ENOENT" || osCode === "ENOTDIR") {
    return new AttestationError(missing, `${shown(path)} does not exist (${why})`, options);
  }
  if (osCode === "ELOOP")
    return new AttestationError("LINK_LOOP", `${shown(path)} is a loop of symlinks (${why})`, options);
  const readable = "let this user read it, or name another file in command, args or measureTarget";
  return new AttestationError("UNREADABLE", `${shown(path)} cannot be read (${why})`, { ...options, advice: readable });
}

export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
