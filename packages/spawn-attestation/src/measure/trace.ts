import { lstatSync, readlinkSync } from "node:fs";
import { AttestationError } from "../errors.js";
import {
  type BytePath,
  inFolder,
  isUtf8,
  parentOf,
  pathOfLatin1,
  rootPath,
  segmentsOf,
  shown,
  toBuffer,
} from "./byte-path.js";
import { type FaultCodes, faultAt, type Identity, identityOf } from "./identity.js";

/** One name on the way: a folder that was entered, a symlink that was followed, or the end. */
export interface PathStep {
  readonly path: BytePath;
  readonly identity: Identity;
}

/** A path followed to its end by hand, so that each folder and symlink on it is known again later. */
export interface PathTrace {
  readonly realPath: BytePath;
  readonly steps: readonly PathStep[];
  /** What is at the end. */
  readonly end: Identity;
}

/** A file that takes part in a launch, and where it is looked for again, symlinks on the way included. */
export interface WatchedFile {
  readonly part: string;
  readonly path: BytePath;
  readonly trace: PathTrace;
}

/** Linux's own bound (path_resolution(7)). */
const maxLinks = 40;

/**
 * Follows an absolute path.
 * @throws {AttestationError} `codes.missing`, `LINK_LOOP`, `UNREADABLE`; `TARGET_NOT_STABLE` for paths through `/proc`,
 * which lead elsewhere in the child than here (`/dev/stdin` is one of them).
 */
// A state machine over names, the kernel's own walk (path_resolution(7)).
export function tracePath(path: BytePath, codes: FaultCodes): PathTrace {
  const steps: PathStep[] = [];
  const calling = <T>(at: BytePath, call: () => T): T => {
    try {
      return call();
    } catch (error) {
      throw faultAt(path, codes, error, at);
    }
  };
  const visit = (at: BytePath): Identity => {
    refuseUnstable(at, path);
    const identity = identityOf(calling(at, () => lstatSync(toBuffer(at), { bigint: true })));
    steps.push({ path: at, identity });
    return identity;
  };
  const ahead = [...segmentsOf(path)];
  let links = 0;
  let place = rootPath;
  let end = visit(rootPath);
  const moveTo = (folder: BytePath): void => {
    place = folder;
    end = visit(folder);
  };
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
    if (end.kind !== "folder") throw faultAt(path, codes, systemError("ENOTDIR"));
    if (name === ".") continue;
    if (name === "..") {
      moveTo(parentOf(place));
      continue;
    }
    const next = inFolder(place, name);
    const found = visit(next);
    if (found.kind !== "link") {
      place = next;
      end = found;
      continue;
    }
    links += 1;
    if (links > maxLinks) throw faultAt(path, codes, systemError("ELOOP"));
    const leads = pathOfLatin1(calling(next, () => readlinkSync(toBuffer(next), "latin1")));
    if (leads.startsWith("/")) moveTo(rootPath);
    ahead.unshift(...segmentsOf(leads));
  }
  if (path.endsWith("/") && end.kind !== "folder") throw faultAt(path, codes, systemError("ENOTDIR"));
  if (!isUtf8(place)) {
    throw new AttestationError("UNREADABLE", `${shown(place)} has a name that is not UTF-8`, {
      advice: "give the file and its folders UTF-8 names",
    });
  }
  return { realPath: place, steps, end };
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function refuseUnstable(at: BytePath, path: BytePath): void {
  if (at !== "/proc" && at !== "/dev/fd" && at !== "/dev/stdin") return;
  throw new AttestationError(
    "TARGET_NOT_STABLE",
    `${shown(path)} leads through ${at}, to another file in each process`,
    {
      advice: "name a file on disk in command, args and measureTarget",
    },
  );
}
