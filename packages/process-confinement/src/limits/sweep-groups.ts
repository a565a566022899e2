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
  for (const { parent } of findPlaces(readHierarchies(thisLimitsHost()), ["memory", "pids", "cpu"])) {
    for (const name of listOrNone(dirname(groupPath(parent, "any")))) {
      const pid = named.exec(name)?.[1];
      // One that lives may have made its group and not entered it yet.
      if (pid !== undefined && !existsSync(`/proc/${pid}`)) tryRemoveGroup(groupPath(parent, name));
    }
  }
}
