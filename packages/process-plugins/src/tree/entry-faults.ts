import type { Stats } from "node:fs";

/** Whose files a plugin's may be: whoever else owns one can change it at any time. */
export function trustedOwners(): ReadonlySet<number> {
  return new Set([0, process.getuid?.() ?? 0]);
}

/** The part of a file's status that its faults are read from. */
export type EntryStatus = Pick<
  Stats,
  "mode" | "uid" | "isDirectory" | "isFile" | "isSymbolicLink" | "isFIFO" | "isSocket"
>;

/**
 * What is wrong with one entry by itself; each goes on after its name. That a file has names elsewhere (hard links) is nothing:
 * through them too only its owner can write, and package managers make many.
 */
export function entryFaults(status: EntryStatus, owners: ReadonlySet<number>): readonly string[] {
  if (status.isSymbolicLink()) return []; // its own mode and owner mean nothing; where it leads is looked at elsewhere
  if (!status.isFile() && !status.isDirectory()) return [`is ${kindOf(status)}`];
  const mode = modeOf(status);
  const faults: string[] = [];
  if (status.mode & 0o022) faults.push(`may be written by its group or by others (mode ${mode})`);
  if (status.mode & 0o6000) faults.push(`is set-user-ID or set-group-ID (mode ${mode})`);
  if (!owners.has(status.uid)) faults.push(`belongs to the user ${status.uid}, who could change it`);
  return faults;
}

/**
 * What is wrong with a folder above: in it another user could put something else in the place of what lies below. In one with the
 * sticky bit, such as /tmp, only the owners can do that.
 */
export function parentFaults(status: EntryStatus, owners: ReadonlySet<number>): readonly string[] {
  const isOpen = (status.mode & 0o022) !== 0 && (status.mode & 0o1000) === 0;
  return [
    ...(isOpen ? [`may be written by its group or by others (mode ${modeOf(status)})`] : []),
    ...(owners.has(status.uid) ? [] : [`belongs to the user ${status.uid}, who could change it`]),
  ];
}

function kindOf(status: EntryStatus): string {
  if (status.isFIFO()) return "a named pipe";
  return status.isSocket() ? "a socket" : "a device";
}

function modeOf({ mode }: EntryStatus): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}
