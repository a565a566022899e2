import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { ConfinementError } from "../errors.js";
import { listOrNone } from "../machine/read-or.js";
import { groupPath, tryRemoveGroup } from "./group-folder.js";
import { findPlaces } from "./group-place.js";
import { readHierarchies } from "./hierarchies.js";
import { thisLimitsHost } from "./limits-host.js";

/**
 * Removes the empty control groups of sandboxes named `PREFIX-PID-RANDOM`, of a process of this number that is gone: a host that is killed
 * leaves them. Those in which anything lives stay, and so do those that this process may not remove.
 * @param prefix 1 to 40 letters, digits and dashes.
 * RANDOM: twelve hexadecimal digits.
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID`.
 */
export function sweepControlGroups(prefix: string): void {
  if (!/^[A-Za-z0-9-]{1,40}$/.test(prefix)) {
    throw new ConfinementError(
      "SANDBOX_OPTION_INVALID",
      `prefix: 1 to 40 letters, digits and dashes, not ${JSON.stringify(prefix)}`,
      {
        field: "prefix",
      },
    );
  }
  if (process.platform !== "linux") return;
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
