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
  readonly findTool: ConfinementHost["findTool"];
}

export function thisLimitsHost(findTool: LimitsHost["findTool"] = thisHost().findTool): LimitsHost {
  return {
    uid: process.getuid?.() ?? -1,
    mountInfo: readOr("/proc/self/mountinfo", ""),
    ownGroups: readOr("/proc/self/cgroup", ""),
    ownLimits: readOr("/proc/self/limits", ""),
    ownRights: (readOr("/proc/self/status", "").match(rights) ?? []).join("\n"),
    findTool,
  };
}

const rights = /^(Uid|Gid|Groups|Umask|Cap\w+|NoNewPrivs|Seccomp\w*):.*$/gm;

/** What a process of ours has from its start: one that was started when this was another is not what would be started now. */
export function givenAtStart({ mountInfo, ownGroups, ownLimits, ownRights }: LimitsHost): string {
  return [mountInfo, ownGroups, ownLimits, ownRights].join("\n");
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
