import { hash, randomBytes } from "node:crypto";
import { chmodSync, closeSync, fchmodSync, lstatSync, mkdirSync, openSync, readdirSync, renameSync } from "node:fs";
import { AttestationError, isAttestationError } from "../errors.js";
import {
  type BytePath,
  inFolder,
  pathOfText,
  printable,
  segmentsOf,
  shown,
  toBuffer,
  toText,
} from "../measure/byte-path.js";
import { readGlobs } from "../measure/glob.js";
import { hashFile } from "../measure/hash-file.js";
import { busy, isExecutable, systemCode } from "../measure/identity.js";
import { type MeasuredTree, measureTree } from "../measure/measure-tree.js";
import type { MeasureTools } from "../measure/tools.js";
import { copyTree, removeTree, sinkTo } from "./copy-tree.js";
import { ensurePrivateFolder } from "./private-folder.js";

/** What is copied: a file or folder as it was measured. */
export interface SnapshotOrder {
  /** The folder of all snapshots. */
  readonly snapshots: string;
  readonly root: BytePath;
  readonly scope: "file" | "tree";
  readonly ignore: readonly string[];
  /** The measured digest: the copy must have it. */
  readonly digest: string;
}

/** A copy that was made or found, and verified by reading it. */
export interface Snapshot {
  /** The copy of the root. */
  readonly path: BytePath;
  /** Absent for a file. */
  readonly tree: MeasuredTree | undefined;
}

/**
 * Gives the read-only copy of what was measured: the cached one when reading it gives the digest, else a new one.
 * It is built under another name and put in place by one rename, so that a crash leaves no half of it under its name,
 * and of two that build it at once one wins and the other uses that.
 * @throws {AttestationError} `SNAPSHOT_FAILED`, `SCRATCH_NOT_PRIVATE`, and what measuring throws when the original changed.
 */
export function takeSnapshot(order: SnapshotOrder, tools: MeasureTools): Snapshot {
  ensurePrivateFolder(order.snapshots);
  const folder = pathOfText(order.snapshots);
  sweepBuilds(folder);
  const place = inFolder(folder, nameOf(order));
  const cached = readCached(order, place, tools);
  if (cached !== undefined) return cached;
  const build = inFolder(folder, pathOfText(`.build-${process.pid}-${randomBytes(8).toString("hex")}`));
  try {
    copyInto(order, build, tools);
    return putInPlace(order, build, place, tools);
  } catch (error) {
    throw failed(order, error);
  } finally {
    removeTree(build);
  }
}

function copyInto(order: SnapshotOrder, build: BytePath, tools: MeasureTools): void {
  mkdirSync(toBuffer(build), { mode: 0o700 });
  const destination = inFolder(build, contentName(order));
  const globs = readGlobs(order.ignore);
  const digest =
    order.scope === "file"
      ? `sha256:${copyFile(order.root, destination, tools)}`
      : `tree-v1:${copyTree({ ...tools, root: order.root, globs, strictFolders: false }, destination).hex}`;
  if (digest !== order.digest) throw changed(order);
  chmodSync(toBuffer(build), 0o555);
}

function copyFile(file: BytePath, destination: BytePath, tools: MeasureTools): string {
  const descriptor = openSync(toBuffer(destination), "wx", 0o600);
  try {
    const read = hashFile(file, { ...tools, codes: busy, sink: sinkTo(descriptor) });
    fchmodSync(descriptor, isExecutable(read.identity) ? 0o555 : 0o444);
    return read.hex;
  } finally {
    closeSync(descriptor);
  }
}

function putInPlace(order: SnapshotOrder, build: BytePath, place: BytePath, tools: MeasureTools): Snapshot {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    try {
      renameSync(toBuffer(build), toBuffer(place));
    } catch (error) {
      const code = systemCode(error);
      if (code !== "EEXIST" && code !== "ENOTEMPTY" && code !== "ENOENT") throw error;
    }
    const found = readCached(order, place, tools);
    if (found !== undefined) return found;
    setAside(place);
  }
  throw new AttestationError("SNAPSHOT_FAILED", `${shown(place)} does not keep what is written to it`, {
    advice: "look after the disk, or name another folder for snapshots",
  });
}

/** Two builders and one damaged copy need no more. */
const maxAttempts = 4;

/**
 * The copy under its final name, if reading it gives the digest. Nothing is ignored in it: what matches an ignore glob
 * was never copied, so if it is there somebody put it there.
 */
function readCached(order: SnapshotOrder, place: BytePath, tools: MeasureTools): Snapshot | undefined {
  const path = inFolder(place, contentName(order));
  try {
    if (readdirSync(toBuffer(place)).length !== 1) return undefined;
    if (order.scope === "file") {
      const { hex } = hashFile(path, { ...tools, codes: busy });
      return `sha256:${hex}` === order.digest ? { path, tree: undefined } : undefined;
    }
    const headerGlobs = readGlobs(order.ignore);
    const tree = measureTree({ ...tools, root: path, globs: [], headerGlobs, strictFolders: true });
    return `tree-v1:${tree.hex}` === order.digest ? { path, tree } : undefined;
  } catch {
    // Absent, half there or damaged is all the same: it is built anew, and that says what is wrong with the disk.
    return undefined;
  }
}

function setAside(place: BytePath): void {
  const aside = pathOfText(`${toText(place)}.damaged-${randomBytes(8).toString("hex")}`);
  try {
    renameSync(toBuffer(place), toBuffer(aside));
  } catch (error) {
    // Another builder was quicker.
    if (systemCode(error) !== "ENOENT") throw error;
  }
  removeTree(aside);
}

/** A copy that was left unfinished, or set aside and not removed: by a process that is gone, or that gave it up. */
const abandonedAfterMs = 600_000;
const givenUpAfterMs = 3_600_000;

function sweepBuilds(folder: BytePath): void {
  for (const name of readdirSync(toBuffer(folder), { encoding: "latin1" })) {
    const pid = /^\.build-(\d+)-[0-9a-f]{16}$/.exec(name)?.[1];
    if (pid === undefined && !/\.damaged-[0-9a-f]{16}$/.test(name)) continue;
    const path = inFolder(folder, pathOfText(name));
    const age =
      Date.now() - (lstatSync(toBuffer(path), { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);
    const isOver = age > (pid !== undefined && isAlive(Number(pid)) ? givenUpAfterMs : abandonedAfterMs);
    if (isOver) removeTree(path);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}

/** The name of the copy inside its own folder: kept for a file and for `node_modules`, by which Node finds it. */
function contentName({ root, scope }: SnapshotOrder): BytePath {
  const name = segmentsOf(root).at(-1) ?? pathOfText("root");
  return scope === "file" || name === "node_modules" ? name : pathOfText("root");
}

/** By digest and content name, since two files of the same bytes may bear different names. */
function nameOf(order: SnapshotOrder): BytePath {
  const suffix = hash("sha256", toBuffer(contentName(order)), "hex").slice(0, 8);
  return pathOfText(`${order.digest.replace(":", "-")}-${suffix}`);
}

function changed(order: SnapshotOrder): AttestationError {
  return new AttestationError("TARGET_CHANGED", `${shown(order.root)} changed between measuring and copying it`, {
    advice: "try again when nothing writes to it; leave data that is written there out with measureIgnore",
  });
}

function failed(order: SnapshotOrder, error: unknown): unknown {
  if (isAttestationError(error)) return error;
  const message = `no snapshot could be written to ${printable(order.snapshots)} (${systemCode(error) ?? "unknown error"})`;
  return new AttestationError("SNAPSHOT_FAILED", message, {
    cause: error,
    osCode: systemCode(error),
    advice: 'make room or name another folder for snapshots, or set "guard": "recheck"',
  });
}
