import { accessSync, constants, readFileSync } from "node:fs";
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

/** The text of a file of /proc or of a control group: small and made in memory, so reading it does not block. */
export function readOr<T>(path: string, otherwise: T): string | T {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return otherwise; // absent, or hidden from us: what cannot be read holds nothing
  }
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
