import { lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { isAbsolute, join, normalize } from "node:path";
import { LeaseError } from "../errors.js";
import { readRecord } from "./read-record.js";
import { unlockTree } from "./unlock-tree.js";

const workerName = /^mcp-[0-9a-f]{24}$/;
const workerNameBytes = 28;
/** `sun_path` holds 108 bytes with the closing NUL (unix(7)). */
const maxSocketPathBytes = 107;

/** The folder in which a provider keeps what belongs to its workers. */
export interface WorkersFolder {
  readonly path: string;
  /** Makes the worker's own folder, which must not exist: whoever finds one knows that a worker may exist. */
  add(name: string): Promise<WorkerFolder>;
  at(name: string): WorkerFolder;
  list(): Promise<readonly string[]>;
}

/** What is kept about one worker. */
export interface WorkerFolder {
  readonly name: string;
  readonly path: string;
  /** Socket of the dial listener, and of the egress proxy: one letter, since the whole path is bounded. */
  readonly dialSocket: string;
  readonly egressSocket: string;
  readonly wheels: string;
  exists(): Promise<boolean>;
  /** Whole or not at all. */
  writeIdentity(identity: unknown): Promise<void>;
  /** Undefined when none was written: the worker had not begun to run anything. Null when there is one that cannot be read. */
  readIdentity(): Promise<unknown>;
  remove(): Promise<void>;
}

/** @throws {LeaseError} `OPTION_INVALID` when sockets below it could not be used. */
export async function openWorkersFolder(path: string): Promise<WorkersFolder> {
  checkFolder(path);
  await mkdir(path, { recursive: true, mode: 0o700 });
  const at = (name: string): WorkerFolder => workerFolder(name, join(path, checkName(name)));
  return {
    path,
    at,
    async add(name) {
      const folder = at(name);
      await mkdir(folder.path, { mode: 0o700 });
      return folder;
    },
    list: async () => (await readdir(path)).filter((name) => workerName.test(name)),
  };
}

function checkFolder(path: string): void {
  const longest = maxSocketPathBytes - workerNameBytes - "//d".length;
  const bytes = Buffer.byteLength(path);
  const fault =
    !isAbsolute(path) || normalize(path) !== path || path.endsWith("/")
      ? "must be an absolute path without a slash at its end"
      : bytes > longest
        ? `has ${bytes} bytes, at most ${longest} leave room for the sockets of its workers`
        : undefined;
  if (fault === undefined) return;
  throw new LeaseError("OPTION_INVALID", `the folder of workers ${fault}`, {
    faults: [{ field: "folder", fault }],
    cure: "choose a short absolute path, such as one below the state folder or /run",
  });
}

function checkName(name: string): string {
  if (workerName.test(name)) return name;
  throw new LeaseError("OPTION_INVALID", "a worker's name must be mcp- and 24 hexadecimal digits");
}

function workerFolder(name: string, path: string): WorkerFolder {
  const identityFile = join(path, "identity.json");
  return {
    name,
    path,
    dialSocket: join(path, "d"),
    egressSocket: join(path, "e"),
    wheels: join(path, "wheels"),
    exists: () => isThere(path),
    async writeIdentity(identity) {
      // No sync to disk: after a crash of the machine there is no worker either.
      await writeFile(`${identityFile}.new`, JSON.stringify(identity), { mode: 0o600 });
      await rename(`${identityFile}.new`, identityFile);
    },
    readIdentity: () => readRecord(identityFile),
    async remove() {
      try {
        await rm(path, { recursive: true, force: true });
      } catch {
        // Who wrote into it may have taken away our right to empty it.
        await unlockTree(path);
        await rm(path, { recursive: true, force: true });
      }
    },
  };
}

/** A link counts as itself, wherever it leads: what is listed has to be removable. */
async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}
