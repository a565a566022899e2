import { dirname } from "node:path";
import { readOr } from "../machine/read-or.js";
import type { Hierarchy } from "./hierarchies.js";
import { mayWrite } from "./limits-host.js";

/** The controllers of the kernel that hold our limits. */
export type Controller = "memory" | "pids" | "cpu";

/** Where groups may be made, and what can be bounded there. */
export interface GroupPlace {
  readonly version: 1 | 2;
  /** The group in which ours are made, under `berth`. */
  readonly parent: string;
  readonly controllers: readonly Controller[];
  /** What lives in a group there can be held still. */
  readonly freezes: boolean;
}

const known: readonly Controller[] = ["memory", "pids", "cpu"];

/**
 * In version 1 the group of this process itself: what bounds the host bounds its sandboxes, too. In version 2 the nearest
 * group above that may be written and can give the controllers on: a group with processes of its own, such as ours, cannot
 * (cgroup-v2.rst, No Internal Process Constraint), the group of systemd's user manager above it can.
 */
export function findPlaces(hierarchies: readonly Hierarchy[], wanted: readonly Controller[]): readonly GroupPlace[] {
  return hierarchies.flatMap((hierarchy) => {
    const place = hierarchy.version === 1 ? placeOfOne(hierarchy) : placeOfTwo(hierarchy, wanted);
    return place === undefined ? [] : [place];
  });
}

/** The controllers that a tree has at all, whether or not we may use them. */
export function controllersOf(hierarchy: Hierarchy): readonly string[] {
  return hierarchy.version === 1 ? hierarchy.controllers : words(`${hierarchy.top}/cgroup.controllers`);
}

function placeOfOne({ own, controllers }: Hierarchy): GroupPlace | undefined {
  const useful = known.filter((name) => controllers.includes(name));
  const freezes = controllers.includes("freezer");
  if ((useful.length === 0 && !freezes) || !mayWrite(own)) return undefined;
  return { version: 1, parent: own, controllers: useful, freezes };
}

function placeOfTwo(hierarchy: Hierarchy, wanted: readonly Controller[]): GroupPlace | undefined {
  const places = upwards(hierarchy.own, hierarchy.top)
    .filter(mayHoldOurs)
    .map((parent) => ({
      version: 2 as const,
      parent,
      controllers: known.filter((name) => canGive(parent, name)),
      freezes: true, // no controller: every group of Linux 5.2 and later
    }));
  const score = (place: GroupPlace): number => wanted.filter((name) => place.controllers.includes(name)).length;
  // The nearest of the best: sort keeps the order of equals.
  return places.sort((one, other) => score(other) - score(one))[0];
}

function upwards(from: string, top: string): readonly string[] {
  const path = [from];
  for (let group = from; group !== top && group !== "/"; path.push(group)) group = dirname(group);
  return path;
}

// A process is moved by one who may write to the members of the group above both (cgroup-v2.rst, Delegation).
function mayHoldOurs(group: string): boolean {
  return mayWrite(group) && mayWrite(`${group}/cgroup.procs`);
}

function canGive(group: string, controller: Controller): boolean {
  const given = `${group}/cgroup.subtree_control`;
  if (words(given).includes(controller)) return true;
  if (!words(`${group}/cgroup.controllers`).includes(controller) || !mayWrite(given)) return false;
  // Only the root of the machine's tree, which has no such file, may have both processes and controllers.
  const isRoot = readOr(`${group}/cgroup.type`, undefined) === undefined;
  return isRoot || readOr(`${group}/cgroup.procs`, "?").trim() === "";
}

function words(path: string): readonly string[] {
  return readOr(path, "").split(/\s+/).filter(Boolean);
}
