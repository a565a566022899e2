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
  readonly findTool: ConfinementHost["findTool"];
}

export function thisLimitsHost(findTool: LimitsHost["findTool"] = thisHost().findTool): LimitsHost {
  return {
    uid: process.getuid?.() ?? -1,
    mountInfo: readOr("/proc/self/mountinfo", ""),
    ownGroups: readOr("/proc/self/cgroup", ""),
    ownLimits: readOr("/proc/self/limits", ""),
    findTool,
  };
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
