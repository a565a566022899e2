import { constants } from "node:fs";
import { chmod, type FileHandle, mkdir, open, readdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { ShipyardError } from "./errors.js";
import { replaceFile } from "./replace-file.js";

/** Places inside a state folder. */
export interface StateFolder {
  readonly path: string;
  /** One folder a log, one log a process. */
  readonly audit: string;
  /** The lease store. */
  readonly leases: string;
  /** What belongs to living workers. Short, since sockets lie in it. */
  readonly workers: string;
  /** What clients of a server hand to their code and get back, unless `--uploads` says otherwise. */
  readonly uploads: string;
  /** Where the running server takes orders from `leases release` and `leases sweep`. */
  readonly control: string;
}

/** Raised when the layout changes; a newer one is refused. */
const formatVersion = 1;
const formatFile = "format.json";
const maxFormatBytes = 100;

/** Where state lies unless `--state` says otherwise: the XDG state folder. */
export function defaultStatePath(environment: Readonly<Record<string, string | undefined>>): string {
  const base = environment["XDG_STATE_HOME"];
  const home = environment["HOME"] ?? homedir();
  return join(base !== undefined && isAbsolute(base) ? base : join(home, ".local", "state"), "berth");
}

/**
 * Opens a state folder, and makes it (0700) when it is absent or empty. Many processes may do so at once.
 * @throws {ShipyardError} `STATE_UNUSABLE` for a folder that is something else, another user's or open to others; `STATE_NEWER`.
 */
export async function openStateFolder(given: string): Promise<StateFolder> {
  const path = resolve(given);
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new ShipyardError("STATE_UNUSABLE", `the state folder ${path} cannot be made`, { cause });
  });
  const version = await tryReadVersion(path);
  // In this order: whoever claims a folder closes it before the version can be read.
  const found = await stat(path);
  if (process.getuid !== undefined && found.uid !== process.getuid()) {
    throw new ShipyardError("STATE_UNUSABLE", `the state folder ${path} belongs to another user`);
  }
  if (version === undefined) await claim(path, found.mode);
  else {
    refuseNewer(path, version);
    await closeToOthers(path, found.mode);
  }
  const state = places(path);
  for (const folder of [state.audit, state.workers, state.uploads]) await refuseKind(folder, "folder");
  await refuseKind(state.control, "socket");
  return state;
}

/**
 * The places of a state folder that must exist already, for commands that only read.
 * @throws {ShipyardError} `STATE_UNUSABLE`, `STATE_NEWER`.
 */
export async function findStateFolder(given: string): Promise<StateFolder> {
  const path = resolve(given);
  const version = await tryReadVersion(path);
  if (version === undefined) throw new ShipyardError("STATE_UNUSABLE", `${path} is no state folder`);
  refuseNewer(path, version);
  return places(path);
}

/** What is there and is something else would be found out in the middle of a start. */
async function refuseKind(place: string, kind: "folder" | "socket"): Promise<void> {
  const found = await stat(place).catch(() => undefined); // absent: made when it is needed
  if (found === undefined || found.isDirectory() === (kind === "folder")) return;
  throw new ShipyardError("STATE_UNUSABLE", `${place} has to be a ${kind} and is none: look at it, and move it away`);
}

function refuseNewer(path: string, version: number): void {
  if (version <= formatVersion) return;
  throw new ShipyardError("STATE_NEWER", `${path} has state format ${version}; this program knows ${formatVersion}`);
}

function places(path: string): StateFolder {
  return {
    path,
    audit: join(path, "audit"),
    leases: join(path, "leases.db"),
    workers: join(path, "w"),
    uploads: join(path, "uploads"),
    control: join(path, "control.sock"),
  };
}

async function tryReadVersion(path: string): Promise<number | undefined> {
  const text = await readFormat(join(path, formatFile));
  if (text === undefined) return undefined;
  const version = Number(/^\{"format":(\d+)\}\s*$/u.exec(text)?.[1]);
  if (Number.isInteger(version)) return version;
  throw new ShipyardError(
    "STATE_UNUSABLE",
    `${join(path, formatFile)} is damaged: it should be {"format":${formatVersion}}`,
  );
}

/** Undefined for one that is absent; empty for what is no format, such as a named pipe, which would hold us up for ever. */
async function readFormat(path: string): Promise<string | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const seen = await file.stat();
    return seen.isFile() && seen.size <= maxFormatBytes ? await file.readFile("utf8") : "";
  } finally {
    await file.close();
  }
}

/** Makes a folder ours. One with other people's files in it is never taken, since it would be closed to them. */
async function claim(path: string, mode: number): Promise<void> {
  const held = await readdir(path);
  if (held.length > 0 && (mode & 0o077) !== 0) {
    const advice = "give a new or empty one, or close it to others with chmod 700";
    throw new ShipyardError("STATE_UNUSABLE", `${path} is not a state folder and not empty: ${advice}`);
  }
  if ((mode & 0o077) !== 0) await chmod(path, 0o700);
  await replaceFile(join(path, formatFile), `{"format":${formatVersion}}\n`);
}

/** Leases decide what is ended, so a folder into which others could write is not believed. */
async function closeToOthers(path: string, mode: number): Promise<void> {
  if ((mode & 0o022) !== 0) {
    const advice = "look at what it holds, then close it with chmod 700";
    throw new ShipyardError("STATE_UNUSABLE", `others may write into the state folder ${path}: ${advice}`);
  }
  if ((mode & 0o077) !== 0) await chmod(path, 0o700);
}
