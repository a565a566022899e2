import { chmodSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
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
  if (!isOwn(stat.uid)) throw notPrivate(folder, `it belongs to user ${stat.uid}`);
  if ((stat.mode & 0o077) !== 0) throw notPrivate(folder, `its mode is ${(stat.mode & 0o777).toString(8)}`);
  refuseOpenParents(folder);
}

/** Root, and what root's own folders look like from inside a user namespace that does not map it. */
const trusted: ReadonlySet<number> = new Set([0, 65534]);

/** Whoever can rename a folder above ours can put another in its place. A sticky one, such as /tmp, lets only owners. */
function refuseOpenParents(folder: string): void {
  for (let at = dirname(realpathSync(folder)); ; at = dirname(at)) {
    const { mode, uid } = lstatSync(at);
    const isOpen = (mode & 0o002) !== 0 && (mode & 0o1000) === 0;
    if (isOpen || !(isOwn(uid) || trusted.has(uid)))
      throw notPrivate(folder, `others can rename what is in ${printable(at)}`);
    if (at === dirname(at)) return;
  }
}

function isOwn(uid: number): boolean {
  return process.geteuid === undefined || uid === process.geteuid();
}

function notPrivate(folder: string, why: string, cause?: unknown): AttestationError {
  return new AttestationError("SCRATCH_NOT_PRIVATE", `${printable(folder)} cannot be used: ${why}`, {
    cause,
    advice: "name a folder of your own with mode 0700, or one that does not exist yet",
  });
}
