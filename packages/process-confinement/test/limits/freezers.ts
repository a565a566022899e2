import { findPlaces } from "../../src/limits/group-place.js";
import { readHierarchies } from "../../src/limits/hierarchies.js";
import { type LimitsHost, thisLimitsHost } from "../../src/limits/limits-host.js";

/** This machine as if it had only one version of control groups. */
export function onlyVersion(version: 1 | 2): LimitsHost {
  const host = thisLimitsHost();
  const type = version === 1 ? " - cgroup2 " : " - cgroup ";
  const lines = host.mountInfo.split("\n").filter((line) => !line.includes(type));
  return { ...host, mountInfo: lines.join("\n") };
}

/** The versions by which this user can hold processes still here: both, one or none. */
export const freezerVersions: readonly (1 | 2)[] = ([1, 2] as const).filter((version) =>
  findPlaces(readHierarchies(onlyVersion(version)), []).some(({ freezes }) => freezes),
);

/** What goes before a command so that it sees the control groups of this version only. Needs root, and `unshare`. */
export function withOnly(version: 1 | 2): readonly string[] {
  const top = readHierarchies(onlyVersion(2)).find((one) => one.version === 2)?.top;
  if (version === 2 || top === undefined) return [];
  return ["unshare", "--mount", "/bin/sh", "-c", 'umount "$1" && shift && exec "$@"', "sh", top];
}
