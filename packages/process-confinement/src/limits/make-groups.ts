import { readFileSync, writeFileSync } from "node:fs";
import { ConfinementError } from "../errors.js";
import { type ControlGroups, controlGroupsAt } from "./control-groups.js";
import { groupPath, makeGroup, tryRemoveGroup } from "./group-folder.js";
import type { Controller } from "./group-place.js";
import type { GroupWrite } from "./group-writes.js";
import type { GroupRequest } from "./plan.js";

/**
 * Makes the control groups of one sandbox and writes its limits to them; all or none. What an earlier process left under
 * this name is removed when nothing lives in it.
 * @throws {ConfinementError} `LIMIT_NOT_ENFORCEABLE` when the kernel refuses a group or a value; `SANDBOX_NOT_STARTED` when a
 * process lives in a group of this name.
 */
export function makeControlGroups(requests: readonly GroupRequest[], name: string): ControlGroups {
  const made: string[] = [];
  try {
    for (const request of requests) {
      const path = makeOne(request, name);
      made.push(path);
      for (const write of request.writes) writeValue(path, write);
    }
    return controlGroupsAt(made);
  } catch (cause) {
    for (const path of made) tryRemoveGroup(path);
    throw cause instanceof ConfinementError ? cause : notMade(cause);
  }
}

function makeOne({ version, parent, controllers }: GroupRequest, name: string): string {
  const path = groupPath(parent, name);
  const made = makeGroup(path, (folder) => {
    // A controller is there only where each group above gives it on (cgroup-v2.rst, Enabling and Disabling).
    if (version === 2) for (const group of [parent, folder]) giveOn(group, controllers);
  });
  if (made) return path;
  throw inUse(path, name);
}

function giveOn(group: string, controllers: readonly Controller[]): void {
  const file = `${group}/cgroup.subtree_control`;
  const given = readFileSync(file, "utf8").split(/\s+/);
  const missing = controllers.filter((name) => !given.includes(name));
  if (missing.length > 0) writeExisting(file, missing.map((name) => `+${name}`).join(" "));
}

function writeValue(group: string, { file, value, optional }: GroupWrite): void {
  try {
    writeExisting(`${group}/${file}`, value);
  } catch (cause) {
    const absent = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (!optional || !absent) throw cause;
  }
}

// Never made: a file that is not there must be an error, not a file.
function writeExisting(file: string, value: string): void {
  writeFileSync(file, value, { flag: "r+" });
}

function inUse(path: string, name: string): ConfinementError {
  return new ConfinementError("SANDBOX_NOT_STARTED", `processes live in ${path}: a sandbox "${name}" is still there`, {
    field: "name",
    cure: "end it first (endSandbox), or give another name",
  });
}

function notMade(cause: unknown): ConfinementError {
  const message = `a control group could not be made: ${cause instanceof Error ? cause.message : String(cause)}`;
  return new ConfinementError("LIMIT_NOT_ENFORCEABLE", message, {
    field: "limits",
    cure: "look at what probe() tells of each limit",
    cause,
  });
}
