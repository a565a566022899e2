import { lstat } from "node:fs/promises";
import { dirname } from "node:path";
import type { ProblemList } from "../manifest/problem-list.js";
import { quoted } from "../manifest/quoted.js";
import { entryFaults, parentFaults, trustedOwners } from "./entry-faults.js";
import { linkFault } from "./link-fault.js";
import { type FolderEntry, faultOf, walkFolder } from "./walk-folder.js";

/** How much a folder may hold. */
export interface FolderBounds {
  readonly maxEntries: number;
  readonly maxTreeBytes: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Adds what is wrong with a plugin's folder: what could be changed by another user, what leads out of it, what is no file, folder or
 * link, and what is too much. Opens no file.
 * @param root Absolute, links resolved.
 */
export async function checkFolder(root: string, bounds: FolderBounds, problems: ProblemList): Promise<void> {
  const owners = trustedOwners();
  for (const fault of entryFaults(await lstat(root), owners)) problems.add(`the folder ${fault}`);
  for (const problem of await problemsAbove(root)) problems.add(problem);
  let entries = 0;
  let bytes = 0;
  for await (const entry of walkFolder(root, bounds.signal)) {
    entries += 1;
    if ("stats" in entry && entry.stats.isFile()) bytes += entry.stats.size;
    const excess = excessOf(entries, bytes, bounds);
    if (excess !== undefined) return problems.add(excess);
    for (const fault of await faultsOf(entry, root, owners)) problems.add(`${nameText(entry.name)} ${fault}`);
  }
}

function excessOf(entries: number, bytes: number, { maxEntries, maxTreeBytes }: FolderBounds): string | undefined {
  if (entries > maxEntries) return `the folder has more than ${maxEntries} entries`;
  return bytes > maxTreeBytes ? `the files of the folder have more than ${maxTreeBytes} bytes` : undefined;
}

async function faultsOf(entry: FolderEntry, root: string, owners: ReadonlySet<number>): Promise<readonly string[]> {
  if ("fault" in entry) return [`cannot be looked at (${entry.fault})`];
  if (!entry.stats.isSymbolicLink()) return entryFaults(entry.stats, owners);
  const fault = await linkFault(entry.path, root);
  return fault === undefined ? [] : [fault];
}

/**
 * In which folders above another user could put something else in the place of this one; one sentence each.
 * @param root Absolute, links resolved.
 */
export async function problemsAbove(root: string): Promise<readonly string[]> {
  const owners = trustedOwners();
  const problems: string[] = [];
  for (let folder = dirname(root), below = root; folder !== below; below = folder, folder = dirname(folder)) {
    try {
      const faults = parentFaults(await lstat(folder), owners);
      problems.push(...faults.map((fault) => `${nameText(folder)}, in which the folder lies, ${fault}`));
    } catch (error) {
      problems.push(`${nameText(folder)}, in which the folder lies, cannot be looked at (${faultOf(error)})`);
    }
  }
  return problems;
}

/** As it is where it is plain, for people who copy it; else quoted. */
export function nameText(name: string): string {
  return /^[\w./+@-]{1,200}$/.test(name) ? name : quoted(name);
}
