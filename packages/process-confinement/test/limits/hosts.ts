import type { LimitsHost } from "../../src/limits/limits-host.js";

/** A machine as its texts tell it; the folders that they name are real ones of the test. */
export function hostOf(parts: Partial<LimitsHost>): LimitsHost {
  return {
    uid: 0,
    mountInfo: "",
    ownGroups: "",
    ownLimits: "",
    ownRights: "",
    ownShare: "",
    findTool: () => "/usr/bin/prlimit",
    ...parts,
  };
}

/** A line of mountinfo for control groups. */
export function mountLine(type: "cgroup" | "cgroup2", top: string, options = "rw", root = "/"): string {
  return `35 24 0:30 ${root} ${top} rw,nosuid,nodev,noexec,relatime shared:9 - ${type} ${type} ${options}\n`;
}
