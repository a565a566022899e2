import { accessSync, constants, readFileSync } from "node:fs";

/** What of the machine decides how a limit is held; tests pass texts that name folders of their own. */
export interface LimitsHost {
  readonly uid: number;
  /** `/proc/self/mountinfo` (proc(5)). Empty where there is none. */
  readonly mountInfo: string;
  /** `/proc/self/cgroup` (cgroups(7)). Empty where there is none. */
  readonly ownGroups: string;
  /** `/proc/self/limits` (proc(5)). Empty where there is none. */
  readonly ownLimits: string;
  /** Absolute path of a program of the system, looked for in fixed folders, never in PATH. */
  readonly findTool: (name: string) => string | undefined;
}

const toolFolders: readonly string[] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

export function thisLimitsHost(): LimitsHost {
  return {
    uid: process.getuid?.() ?? -1,
    mountInfo: readOr("/proc/self/mountinfo", ""),
    ownGroups: readOr("/proc/self/cgroup", ""),
    ownLimits: readOr("/proc/self/limits", ""),
    findTool: (name) => toolFolders.map((folder) => `${folder}/${name}`).find((path) => mayAccess(path, "execute")),
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
export function mayAccess(path: string, how: "write" | "execute"): boolean {
  try {
    accessSync(path, how === "write" ? constants.W_OK : constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
