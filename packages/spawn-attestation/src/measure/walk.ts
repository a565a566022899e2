import { opendirSync, readlinkSync } from "node:fs";
import { AttestationError } from "../errors.js";
import { type BytePath, inFolder, pathOfLatin1, shown, toBuffer, topPath } from "./byte-path.js";
import { type Glob, matches } from "./glob.js";
import { atPath, type FaultCodes, identify, identityText, isExecutable } from "./identity.js";
import { refuseEscapes } from "./inner-links.js";

/** One entry of a tree. */
export interface TreeEntry {
  /** Relative to the root; the root's own is empty. */
  readonly path: BytePath;
  readonly kind: "folder" | "file" | "link";
  readonly isExecutable: boolean;
  readonly bytes: number;
  /** Its identity in one text: a tree of 100,000 entries is held in memory. */
  readonly identity: string;
  readonly ctimeNs: bigint;
  /** Where a symlink leads, as written. */
  readonly leads?: BytePath | undefined;
}

/** What is walked. */
export interface TreePlan {
  readonly root: BytePath;
  readonly globs: readonly Glob[];
  readonly maxEntries: number;
  /** Whether a folder's own times belong to the fingerprint: not where data may be written beside what is measured. */
  readonly strictFolders: boolean;
}

/** Absent means changed: the folder was listed a moment ago. */
export const treeCodes: FaultCodes = {
  missing: "TREE_CHANGED",
  advice: "try again when nothing writes to the folder, or leave its data out with measureIgnore",
};

/**
 * All entries of a folder, its own first, in the order of their paths' bytes. Symlinks are entries, never followed.
 * @throws {AttestationError} `TREE_TOO_LARGE`, `TREE_SPECIAL_FILE`, `TREE_LINK_ESCAPES`, `TREE_LINK_LOOP`,
 * `TREE_CHANGED`, `UNREADABLE`.
 */
export function walkTree(plan: TreePlan): readonly TreeEntry[] {
  const entries: TreeEntry[] = [entryAt(plan, topPath)];
  const folders: BytePath[] = [topPath];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of namesIn(plan.root, folder)) {
      const path = inFolder(folder, name);
      if (matches(plan.globs, path)) continue;
      const entry = entryAt(plan, path);
      entries.push(entry);
      if (entries.length > plan.maxEntries) throw tooMany(plan);
      if (entry.kind === "folder") folders.push(path);
    }
  }
  entries.sort((left, right) => (left.path < right.path ? -1 : 1));
  refuseEscapes(entries, plan);
  return entries;
}

// Read in pieces, so that a folder of a hundred million names is refused before it fills the memory.
function* namesIn(root: BytePath, folder: BytePath): Generator<BytePath> {
  const path = inTree(root, folder);
  const open = atPath(path, treeCodes, () => opendirSync(toBuffer(path), { encoding: "latin1", bufferSize: 512 }));
  try {
    for (;;) {
      const next = atPath(path, treeCodes, () => open.readSync());
      if (next === null) return;
      yield pathOfLatin1(next.name);
    }
  } finally {
    open.closeSync();
  }
}

function entryAt(plan: TreePlan, path: BytePath): TreeEntry {
  const full = inTree(plan.root, path);
  const found = identify(full, treeCodes);
  if (found.kind === "special") throw special(plan, path);
  const entry: TreeEntry = {
    path,
    kind: found.kind,
    isExecutable: isExecutable(found),
    bytes: found.kind === "file" ? Number(found.size) : 0,
    identity: identityText(found, plan.strictFolders),
    ctimeNs: found.ctimeNs,
  };
  if (found.kind !== "link") return entry;
  return { ...entry, leads: pathOfLatin1(atPath(full, treeCodes, () => readlinkSync(toBuffer(full), "latin1"))) };
}

/** The place on disk of an entry. */
export function inTree(root: BytePath, path: BytePath): BytePath {
  return path === topPath ? root : inFolder(root, path);
}

function special(plan: TreePlan, path: BytePath): AttestationError {
  const message = `${shown(path)} in ${shown(plan.root)} is a socket, a pipe or a device, which cannot be measured`;
  return new AttestationError("TREE_SPECIAL_FILE", message, {
    advice: `leave it out: measureIgnore: [${JSON.stringify(shown(path))}]`,
  });
}

function tooMany(plan: TreePlan): AttestationError {
  return new AttestationError("TREE_TOO_LARGE", `${shown(plan.root)} has more than ${plan.maxEntries} entries`, {
    advice:
      "leave folders out with measureIgnore, name a smaller folder with measureTarget, or raise limits.maxEntries",
  });
}
