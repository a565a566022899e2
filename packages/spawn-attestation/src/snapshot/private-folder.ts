import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { AttestationError } from "../errors.js";
import { printable } from "../measure/byte-path.js";
import { systemCode } from "../measure/identity.js";

/**
 * Makes sure that a folder is ours alone: a real folder, owned by this user, closed to everybody else.
 * @throws {AttestationError} `SCRATCH_NOT_PRIVATE`
 */
export function ensurePrivateFolder(folder: string): void {
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
    mkdirSync(folder, { mode: 0o700 });
    chmodSync(folder, 0o700);
  } catch (error) {
    const osCode = systemCode(error);
    if (osCode !== "EEXIST") throw notPrivate(folder, `it cannot be made (${osCode ?? "unknown error"})`, error);
  }
  const stat = lstatSync(folder);
  if (!stat.isDirectory()) throw notPrivate(folder, "it is no folder");
  if (process.geteuid !== undefined && stat.uid !== process.geteuid())
    throw notPrivate(folder, `it belongs to user ${stat.uid}`);
  if ((stat.mode & 0o077) !== 0) throw notPrivate(folder, `its mode is ${(stat.mode & 0o777).toString(8)}`);
}

function notPrivate(folder: string, why: string, cause?: unknown): AttestationError {
  return new AttestationError("SCRATCH_NOT_PRIVATE", `${printable(folder)} cannot be used: ${why}`, {
    cause,
    advice: "name a folder of your own with mode 0700, or one that does not exist yet",
  });
}
