import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { groupPath, tryRemoveGroup } from "../limits/group-folder.js";
import { findPlaces } from "../limits/group-place.js";
import { readHierarchies } from "../limits/hierarchies.js";
import { thisLimitsHost } from "../limits/limits-host.js";
import { listOrNone } from "../machine/read-or.js";

/** Removes the empty control groups of probes whose process was killed; the kernel keeps those in which anything lives. */
export function sweepProbeGroups(): void {
  const hierarchies = readHierarchies(thisLimitsHost());
  // What only has to be held still lies in the nearest group that may be written, whatever that can bound.
  const places = [...findPlaces(hierarchies, ["memory", "pids", "cpu"]), ...findPlaces(hierarchies, [])];
  for (const { parent } of places) {
    for (const name of listOrNone(dirname(groupPath(parent, "any")))) {
      const pid = /^probe-(\d+)-/.exec(name)?.[1];
      // One that lives may have made its group and not entered it yet.
      if (pid !== undefined && !existsSync(`/proc/${pid}`)) tryRemoveGroup(groupPath(parent, name));
    }
  }
}
