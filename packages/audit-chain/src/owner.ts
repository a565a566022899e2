import { readFileSync, readlinkSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import type { LockOwner } from "./errors.js";
import { systemCode } from "./system-code.js";

/** This process, as its lock record will name it. */
export function ownIdentity(since: string): LockOwner {
  return {
    pid: process.pid,
    startTime: processState(process.pid)?.startTime ?? null,
    bootId: tryRead(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) ?? null,
    pidNamespace: tryRead(() => readlinkSync("/proc/self/ns/pid")) ?? null,
    host: hostname(),
    since,
  };
}

/** What can be known of an owner by looking at this machine. `unknown` is never read as `dead`. */
export type Life = "alive" | "dead" | "unknown";

/** Looks for the owner of a lock in `directory`, as seen from the process `self`. */
export async function lifeOf(owner: LockOwner, self: LockOwner, directory: string): Promise<Life> {
  if (owner.bootId !== self.bootId) {
    // Another boot: before this one, if only one machine at a time can have the folder's file system.
    return owner.bootId !== null && self.bootId !== null && (await isLocal(directory)) ? "dead" : "unknown";
  }
  if (owner.host !== self.host && owner.bootId === null) return "unknown";
  if (owner.pidNamespace !== self.pidNamespace) return "unknown";
  return lifeOfProcess(owner);
}

function lifeOfProcess({ pid, startTime }: LockOwner): Life {
  // Asked first: with hidepid, /proc does not show the processes of others, and they live all the same.
  if (!existsProcess(pid)) return "dead";
  const found = processState(pid);
  if (found === undefined || startTime === null) return "alive";
  // A zombie still has its number, and a number may have gone to a later process.
  return found.ended || found.startTime !== startTime ? "dead" : "alive";
}

function existsProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}

/** State and start time in clock ticks since boot, from /proc/PID/stat (proc(5), fields 3 and 22). */
function processState(pid: number): { readonly ended: boolean; readonly startTime: string } | undefined {
  const stat = tryRead(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The program's name stands in parentheses and may itself hold any of them.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, startTime] = [fields?.[0], fields?.[19]];
  return state === undefined || startTime === undefined ? undefined : { ended: /[ZXx]/.test(state), startTime };
}

// f_type of file systems that one kernel at a time can have mounted (statfs(2)): ext, xfs, btrfs, tmpfs, overlay, zfs,
// f2fs, bcachefs. Network file systems, FUSE and 9p are not among them.
const localFileSystems: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);

async function isLocal(directory: string): Promise<boolean> {
  return localFileSystems.has((await statfs(directory)).type);
}

function tryRead(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined; // no /proc here, or the process is gone: both mean "not known"
  }
}
