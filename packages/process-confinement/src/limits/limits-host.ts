import { accessSync, constants } from "node:fs";
import { readOr } from "../machine/read-or.js";
import { type ConfinementHost, thisHost } from "../start/host.js";

/** What of the machine decides how a limit is held; tests pass texts that name folders of their own. */
export interface LimitsHost {
  readonly uid: number;
  /** `/proc/self/mountinfo` (proc(5)). Empty where there is none. */
  readonly mountInfo: string;
  /** `/proc/self/cgroup` (cgroups(7)). Empty where there is none. */
  readonly ownGroups: string;
  /** `/proc/self/limits` (proc(5)). Empty where there is none. */
  readonly ownLimits: string;
  /** Of `/proc/self/status` (proc(5)) what whatever is started gets: users, groups, capabilities, umask, filters. Empty where there is none. */
  readonly ownRights: string;
  /** How the kernel shares processors and memory out to whatever is started: see `readOwnShare`. Empty where there is no /proc. */
  readonly ownShare: string;
  readonly findTool: ConfinementHost["findTool"];
}

export function thisLimitsHost(findTool: LimitsHost["findTool"] = thisHost().findTool): LimitsHost {
  const status = readOr("/proc/self/status", "");
  return {
    uid: process.getuid?.() ?? -1,
    mountInfo: readOr("/proc/self/mountinfo", ""),
    ownGroups: readOr("/proc/self/cgroup", ""),
    ownLimits: readOr("/proc/self/limits", ""),
    ownRights: (status.match(rights) ?? []).join("\n"),
    ownShare: readOwnShare(status),
    findTool,
  };
}

const rights = /^(Uid|Gid|Groups|Umask|Cap\w+|NoNewPrivs|Seccomp\w*):.*$/gm;

const allowed = /^(Cpus|Mems)_allowed:.*$/gm;

/** Processors and memory nodes, the nice value, priority and policy of real time (proc(5), /proc/pid/stat), and who is killed first. */
function readOwnShare(status: string): string {
  const stat = readOr("/proc/self/stat", "");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the third one is the first of these
  const scheduled = [19, 40, 41].map((field) => fields[field - 3]);
  return [...(status.match(allowed) ?? []), scheduled.join(" "), readOr("/proc/self/oom_score_adj", "")].join("\n");
}

/** What a process of ours has from its start: one that was started when this was another is not what would be started now. */
export function givenAtStart({ mountInfo, ownGroups, ownLimits, ownRights, ownShare }: LimitsHost): string {
  return [mountInfo, ownGroups, ownLimits, ownRights, ownShare].join("\n");
}

/** As the system answers; on a file system that is mounted read-only nothing may be written, by root neither. */
export function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
