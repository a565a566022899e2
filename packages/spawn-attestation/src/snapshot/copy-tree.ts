import {
  chmodSync,
  closeSync,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { type BytePath, inFolder, pathOfLatin1, toBuffer } from "../measure/byte-path.js";
import type { ReadPlan } from "../measure/hash-file.js";
import { systemCode } from "../measure/identity.js";
import { type MeasuredTree, type MeasureTreePlan, measureTree } from "../measure/measure-tree.js";
import { inTree, type TreeEntry } from "../measure/walk.js";

/**
 * Copies a tree while it is measured: the bytes that are hashed are the bytes that are written. The copy is read-only,
 * executable where the original is, and holds nothing that is ignored.
 */
export function copyTree(plan: MeasureTreePlan, destination: BytePath): MeasuredTree {
  const folders: BytePath[] = [destination];
  let open: { readonly descriptor: number; readonly mode: number } | undefined;
  const finish = (): void => {
    if (open === undefined) return;
    const { descriptor, mode } = open;
    open = undefined;
    try {
      fchmodSync(descriptor, mode);
    } finally {
      closeSync(descriptor);
    }
  };
  const onEntry = (entry: TreeEntry): ReadPlan["sink"] => {
    finish();
    const path = inTree(destination, entry.path);
    if (entry.leads !== undefined) symlinkSync(toBuffer(entry.leads), toBuffer(path));
    else if (entry.kind === "folder") {
      mkdirSync(toBuffer(path), { mode: 0o700 });
      folders.push(path);
    } else {
      open = { descriptor: openSync(toBuffer(path), "wx", 0o600), mode: entry.isExecutable ? 0o555 : 0o444 };
      return sinkTo(open.descriptor);
    }
    return undefined;
  };
  mkdirSync(toBuffer(destination), { mode: 0o700 });
  try {
    const measured = measureTree({ ...plan, onEntry });
    finish();
    for (const folder of folders.reverse()) chmodSync(toBuffer(folder), 0o555);
    return measured;
  } finally {
    finish();
  }
}

export function sinkTo(descriptor: number): (chunk: Uint8Array) => void {
  return (chunk) => {
    for (let written = 0; written < chunk.length; ) written += writeSync(descriptor, chunk, written);
  };
}

/** Removes a tree whose folders may be read-only, as far as nobody else removes it at the same time. */
export function removeTree(path: BytePath): void {
  try {
    openForRemoval(path);
    rmSync(toBuffer(path), { recursive: true, force: true });
  } catch (error) {
    // Whoever was quicker removes the rest; anything else is left to the next sweep.
    if (systemCode(error) === undefined) throw error;
  }
}

function openForRemoval(path: BytePath): void {
  if (lstatSync(toBuffer(path), { throwIfNoEntry: false })?.isDirectory() !== true) return;
  chmodSync(toBuffer(path), 0o700);
  for (const name of readdirSync(toBuffer(path), { encoding: "latin1" }))
    openForRemoval(inFolder(path, pathOfLatin1(name)));
}
