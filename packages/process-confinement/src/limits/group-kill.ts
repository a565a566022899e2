import { writeFileSync } from "node:fs";
import { readOr } from "../machine/read-or.js";

/** Sends SIGKILL to every member. New ones may have come meanwhile: repeat until the group can be removed. */
export function killMembers(group: string): void {
  // Version 2, Linux 5.14 and later: all at once, forks in flight included (cgroup-v2.rst, cgroup.kill).
  if (tryWrite(`${group}/cgroup.kill`, "1")) return;
  // Without room for another process a fork bomb shrinks with each round.
  tryWrite(`${group}/pids.max`, "0");
  for (const line of readOr(`${group}/cgroup.procs`, "").split("\n")) killOne(Number(line));
}

function killOne(pid: number): void {
  // 0 stands for a member that our pid namespace does not show; to `kill` it would mean our own group.
  if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // gone already, or not ours to signal: the group then stays, and the caller says so
  }
}

function tryWrite(file: string, value: string): boolean {
  try {
    // Never made: in a folder that is no control group, the file must not come into being.
    writeFileSync(file, value, { flag: "r+" });
    return true;
  } catch {
    return false;
  }
}
