import { join, relative } from "node:path";
import type { LimitsHost } from "./limits-host.js";

/** A tree of control groups, and the place in it where this process lives. */
export interface Hierarchy {
  readonly version: 1 | 2;
  /** Of version 1. Those of version 2 differ from group to group and are read there. */
  readonly controllers: readonly string[];
  /** Where the tree is mounted. */
  readonly top: string;
  /** The folder of the group that this process is in. */
  readonly own: string;
}

/** The trees that are mounted here and that hold our own group. */
export function readHierarchies(host: LimitsHost): readonly Hierarchy[] {
  const memberships = host.ownGroups.split("\n").flatMap(readMembership);
  return host.mountInfo.split("\n").flatMap((line) => {
    const mount = readMount(line);
    const membership = mount && memberships.find((one) => isOf(mount, one));
    if (mount === undefined || membership === undefined) return [];
    const own = folderOf(mount, membership.path);
    if (own === undefined) return [];
    const { version, top } = mount;
    return [{ version, top, own, controllers: version === 1 ? membership.controllers : [] }];
  });
}

interface TreeMount {
  readonly version: 1 | 2;
  /** The group that is visible as `top`: not `/` where a container sees a part of the tree. */
  readonly root: string;
  readonly top: string;
  readonly superOptions: readonly string[];
}

interface Membership {
  /** Empty for version 2. */
  readonly controllers: readonly string[];
  readonly path: string;
}

// `36 35 98:0 /root /mount/point options optional… - type source super,options` (proc(5)).
function readMount(line: string): TreeMount | undefined {
  const [place, filesystem] = line.split(" - ");
  const [, , , root, top] = (place ?? "").split(" ").map(unescapeOctal);
  const [type, , superOptions] = (filesystem ?? "").split(" ");
  if (root === undefined || top === undefined) return undefined;
  if (type !== "cgroup" && type !== "cgroup2") return undefined;
  return { version: type === "cgroup2" ? 2 : 1, root, top, superOptions: (superOptions ?? "").split(",") };
}

// `4:memory:/path`, `3:cpu,cpuacct:/path`, `1:name=systemd:/path`, and `0::/path` for version 2 (cgroups(7)).
function readMembership(line: string): readonly Membership[] {
  const match = /^\d+:([^:]*):(\/.*)$/.exec(line);
  if (match === null) return [];
  const [, controllers = "", path = "/"] = match;
  return [{ controllers: controllers === "" ? [] : controllers.split(","), path }];
}

function isOf(mount: TreeMount, membership: Membership): boolean {
  if (mount.version === 2) return membership.controllers.length === 0;
  const [first] = membership.controllers;
  return first !== undefined && mount.superOptions.includes(first);
}

function folderOf(mount: TreeMount, group: string): string | undefined {
  // Outside of the root of our cgroup namespace (cgroup_namespaces(7)); normalised, it would name another group.
  if (group.split("/").includes("..")) return undefined;
  const below = relative(mount.root, group);
  // Outside the part that is mounted: the view of another container.
  if (below.startsWith("..")) return undefined;
  return join(mount.top, below);
}

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
