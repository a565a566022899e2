import { existsSync, lstatSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { listOrNone } from "../machine/read-or.js";

const prefix = "berth-probe-";
/** No probe takes as long: what is older was left by one that was killed. */
const staleMs = 3_600_000;

/** Makes a folder for one trial. Its name has our number, so that one can tell whose it is. */
export function scratchFolder(root: string, kind: "canary" | "control" | "limit"): string {
  return mkdtempSync(join(root, `${prefix}${kind}-${process.pid}-`));
}

/** Removes what probes of this user that were killed left behind. */
export function sweepScratch(roots: readonly string[], nowMs: number): void {
  for (const root of roots) {
    for (const name of listOrNone(root)) {
      const path = join(root, name);
      if (name.startsWith(prefix) && !isOfTheLiving(name) && isStale(path, nowMs))
        rmSync(path, { recursive: true, force: true });
    }
  }
}

// A clock that was set forward makes everything look old. The number may be another process's by now: then it stays longer.
function isOfTheLiving(name: string): boolean {
  const [, number = ""] = /-(\d+)-[^-]+$/.exec(name) ?? [];
  return number !== "" && existsSync(`/proc/${number}`);
}

// Anybody may make a folder of such a name in /tmp.
function isStale(path: string, nowMs: number): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isDirectory()) return false;
  return stat.uid === process.getuid?.() && nowMs - stat.mtimeMs > staleMs;
}
