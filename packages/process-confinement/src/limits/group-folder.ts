import { mkdirSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** The group in which the groups of all sandboxes of a host lie; made with the first of them, removed with the last. */
export const groupsFolder = "berth";

/** Where the group of a sandbox lies. */
export function groupPath(parent: string, name: string): string {
  return join(parent, groupsFolder, name);
}

/** How often to begin again when another process removed the common folder that we have just made. */
const mostAttempts = 16;

/**
 * Makes the group; `prepareFolder` is told the common folder, which is there then. False when a group of this name is there
 * and cannot be removed, because it has members.
 */
export function makeGroup(path: string, prepareFolder: (folder: string) => void): boolean {
  for (let attempt = 1; ; attempt++) {
    try {
      ensureFolder(dirname(path));
      prepareFolder(dirname(path));
      mkdirSync(path);
      return true;
    } catch (cause) {
      // An earlier process that was killed left it; without members it is worth nothing.
      if (isCode(cause, "EEXIST") && !tryRemoveGroup(path)) return false;
      const again = isCode(cause, "EEXIST") || isCode(cause, "ENOENT");
      if (!again || attempt === mostAttempts) throw cause;
    }
  }
}

function ensureFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (cause) {
    if (!isCode(cause, "EEXIST")) throw cause;
  }
}

/** Whether the group is gone; the kernel refuses while a member, or a group below with one, is left. */
export function tryRemoveGroup(path: string): boolean {
  if (!tryRemove(path)) return false;
  tryRemove(dirname(path)); // stays while another sandbox has a group in it
  return true;
}

// Only "no such file" proves absence: of what may not be looked at nothing is known.
function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (cause) {
    return isCode(cause, "ENOENT");
  }
}

function isCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && "code" in cause && cause.code === code;
}
