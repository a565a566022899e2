import { statSync } from "node:fs";
import { ConfinementError } from "../errors.js";
import type { Mount } from "./mounts.js";

/** What was found at a source when it was resolved. */
export interface BindMark {
  readonly source: string;
  readonly target: string;
  readonly device: number;
  readonly inode: number;
}

/** Remembers what the sources are, before bubblewrap looks for them by name once more. */
export function markBinds(mounts: readonly Mount[]): readonly BindMark[] {
  return mounts.flatMap((mount) => {
    if (mount.kind !== "read" && mount.kind !== "write") return [];
    const { dev, ino } = statSync(mount.source);
    return [{ source: mount.source, target: mount.target, device: dev, inode: ino }];
  });
}

/**
 * Compares what the sandbox sees with what was resolved, while the command still waits: between the two, somebody may have put
 * a link or another folder in a source's place.
 * @param init Process 1 of the sandbox, as this machine numbers it.
 * @throws {ConfinementError} `SANDBOX_NOT_STARTED`.
 */
export function verifyBinds(binds: readonly BindMark[], init: number): void {
  refuse(binds.find((bind) => !isSame(bind, `/proc/${init}/root${bind.target}`)));
}

/**
 * Compares the sources with what was bound of them. Whoever looks at a source while the command waits, and then lets it go, is
 * to have looked at what the command sees.
 * @throws {ConfinementError} `SANDBOX_NOT_STARTED`.
 */
export function verifySources(binds: readonly BindMark[]): void {
  refuse(binds.find((bind) => !isSame(bind, bind.source)));
}

function refuse(changed: BindMark | undefined): void {
  if (changed === undefined) return;
  throw new ConfinementError("SANDBOX_NOT_STARTED", `${changed.source} was replaced while it was bound`, {
    cure: "keep the folders above it out of the reach of whoever can do that",
  });
}

function isSame({ device, inode }: BindMark, path: string): boolean {
  try {
    const { dev, ino } = statSync(path);
    return dev === device && ino === inode;
  } catch {
    return false; // not there, or not to be seen: not what it should be
  }
}
