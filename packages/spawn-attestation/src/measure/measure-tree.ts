import { createHash, hash } from "node:crypto";
import { AttestationError } from "../errors.js";
import { shown, toBuffer } from "./byte-path.js";
import type { Glob } from "./glob.js";
import { hashFile, type ReadPlan } from "./hash-file.js";
import { identityText } from "./identity.js";
import { inTree, type TreeEntry, type TreePlan, treeCodes, walkTree } from "./walk.js";

/** How a tree is measured. */
export interface MeasureTreePlan extends TreePlan {
  readonly maxTreeBytes: number;
  readonly maxFileBytes: number;
  readonly buffer: Buffer;
  /** The globs that the digest names, when the tree is a copy that never held what they match. */
  readonly headerGlobs?: readonly Glob[] | undefined;
  /** Told about each entry in order; for a file it may give back where the bytes are also to go. */
  readonly onEntry?: ((entry: TreeEntry) => ReadPlan["sink"]) | undefined;
}

/** What was in a tree. */
export interface MeasuredTree {
  /** Lower-case hexadecimal `tree-v1` digest. */
  readonly hex: string;
  readonly files: number;
  readonly bytes: number;
  readonly fingerprint: TreeFingerprint;
}

/** By which an unread tree is known again. */
export interface TreeFingerprint {
  readonly hex: string;
  /** The entry whose change time is the latest, for a message: after a change it is the likely culprit. */
  readonly newestPath: string;
  readonly newestCtimeNs: bigint;
}

/** The `tree-v1` digest: SHA-256 over one record an entry, in the order of the paths' bytes (README § tree-v1). */
export function measureTree(plan: MeasureTreePlan): MeasuredTree {
  const entries = walkTree(plan);
  const manifest = createHash("sha256").update("tree-v1\0");
  for (const glob of plan.headerGlobs ?? plan.globs) manifest.update(`ignore ${glob.text}\0`);
  let files = 0;
  let bytes = 0;
  for (const entry of entries.slice(1)) {
    const read = readEntry(entry, plan, plan.maxTreeBytes - bytes);
    manifest.update(`${read.kind} ${read.hex} ${entry.path}\0`, "latin1");
    if (entry.kind === "file") files += 1;
    bytes += entry.bytes;
  }
  return { hex: manifest.digest("hex"), files, bytes, fingerprint: fingerprintOf(entries) };
}

/** The same walk without reading a file. */
export function fingerprintTree(plan: TreePlan): TreeFingerprint {
  return fingerprintOf(walkTree(plan));
}

interface EntryRead {
  readonly kind: "d" | "f" | "x" | "l";
  readonly hex: string;
}

function readEntry(entry: TreeEntry, plan: MeasureTreePlan, bytesLeft: number): EntryRead {
  const sink = plan.onEntry?.(entry);
  if (entry.leads !== undefined) return { kind: "l", hex: hash("sha256", toBuffer(entry.leads), "hex") };
  if (entry.kind === "folder") return { kind: "d", hex: "-" };
  if (entry.bytes > bytesLeft) throw tooLarge(plan);
  const read = hashFile(inTree(plan.root, entry.path), { ...plan, sink, codes: treeCodes });
  if (identityText(read.identity) !== entry.identity) throw changed(plan, entry);
  return { kind: entry.isExecutable ? "x" : "f", hex: read.hex };
}

function fingerprintOf(entries: readonly TreeEntry[]): TreeFingerprint {
  const digest = createHash("sha256");
  let newest = entries[0];
  for (const entry of entries) {
    digest.update(`${entry.identity} ${entry.path}\0`, "latin1");
    if (newest === undefined || entry.ctimeNs > newest.ctimeNs) newest = entry;
  }
  return {
    hex: digest.digest("hex"),
    newestPath: newest === undefined ? "" : shown(newest.path),
    newestCtimeNs: newest?.ctimeNs ?? 0n,
  };
}

function changed(plan: TreePlan, entry: TreeEntry): AttestationError {
  const message = `${shown(entry.path)} in ${shown(plan.root)} changed while the folder was read`;
  return new AttestationError("TREE_CHANGED", message, { advice: treeCodes.advice });
}

function tooLarge(plan: MeasureTreePlan): AttestationError {
  return new AttestationError("TREE_TOO_LARGE", `${shown(plan.root)} holds more than ${plan.maxTreeBytes} bytes`, {
    advice: "leave data out with measureIgnore, name a smaller folder with measureTarget, or raise limits.maxTreeBytes",
  });
}
