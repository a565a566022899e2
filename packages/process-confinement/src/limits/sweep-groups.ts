import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { listOrNone } from "../machine/read-or.js";
import { groupPath, tryRemoveGroup } from "./group-folder.js";
import { findPlaces } from "./group-place.js";
import { readHierarchies } from "./hierarchies.js";
import { thisLimitsHost } from "./limits-host.js";

/**
 * Removes the empty control groups of sandboxes named `PREFIX-PID-RANDOM`, whose process was killed; the kernel keeps those in
 * which anything lives.
 */
export function sweepGroups(prefix: string): void {
  const named = new RegExp(`^${prefix}-(\\d+)-[0-9a-f]{12}(-|$)`);
  const hierarchies = readHierarchies(thisLimitsHost());
  // What only has to be held still lies in the nearest group that may be written, whatever that can bound.
  const places = [...findPlaces(hierarchies, ["memory", "pids", "cpu"]), ...findPlaces(hierarchies, [])];
  for (const { parent } of places) {
    for (const name of listOrNone(dirname(groupPath(parent, "any")))) {
      const pid = named.exec(name)?.[1];
      // One that lives may have made its group and not entered it yet.
      if (pid !== undefined && !existsSync(`/proc/${pid}`)) tryRemoveGroup(groupPath(parent, name));
    }
  }
}
