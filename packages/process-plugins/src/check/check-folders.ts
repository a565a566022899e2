import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, readdir, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeFolder } from "./copy/remove-folder.js";

/** Most folders of dead checks that one check clears. */
const maxCleared = 100;

/**
 * Makes the private folder of a check. Its name says which process has it: a pid is used again, so with the time at which it was
 * started, and it means something only in one namespace of one boot of one machine.
 */
export async function makeCheckFolder(): Promise<string> {
  const prefix = `${placeName()}${process.pid}-${startOf(process.pid) ?? "0"}-`;
  return realpath(await mkdtemp(join(tmpdir(), prefix)));
}

/** Removes what checks of this user left that were killed. What cannot be removed stays, and no check fails of it. */
export async function clearDeadChecks(): Promise<void> {
  const place = placeName();
  const names = await readdir(tmpdir()).catch(() => []);
  const dead = names.filter((name) => name.startsWith(place) && isDead(name.slice(place.length)) && isOwn(name));
  for (const name of dead.slice(0, maxCleared)) await removeFolder(join(tmpdir(), name)).catch(() => {});
}

/** @param rest Of the name: pid, start time, and what `mkdtemp` added. */
function isDead(rest: string): boolean {
  const [, pid, start] = /^(\d{1,10})-(\d{1,20})-[A-Za-z0-9]{6}$/.exec(rest) ?? [];
  return pid !== undefined && start !== "0" && startOf(Number(pid)) !== start;
}

function isOwn(name: string): boolean {
  const found = lstatSync(join(tmpdir(), name), { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

function placeName(): string {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
  const space = /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  return `berth-check-${boot}-${space}-`;
}

/** Field 22 of `stat`, in ticks since the boot; the name before it may hold spaces and brackets. Undefined when there is no such process. */
function startOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19];
  } catch (error) {
    const isGone = error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH");
    if (isGone) return undefined;
    throw error;
  }
}
