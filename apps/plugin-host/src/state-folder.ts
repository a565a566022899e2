import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { defaultStatePath, findPrivateFolder, openPrivateFolder } from "@berth/state-folder";
import { ofState } from "./errors.js";

/** Places inside a state folder. */
export interface StateFolder {
  readonly path: string;
  /** The store of environments. */
  readonly venvs: string;
  /** A data folder for each process plugin. */
  readonly plugins: string;
  /** One folder a log, one log a process. */
  readonly audit: string;
}

const layout = { format: 1, folders: ["venvs", "plugins", "audit"] } as const;

/** Where state lies unless `--state` says otherwise: beside, not in, that of the other apps, whose folders are of other forms. */
export const usualStatePath = (): string => defaultStatePath("berth-plugin-host", process.env);

/**
 * Opens a state folder, and makes it (0700) when it is absent or empty. Many processes may do so at once.
 * @throws {AppError} `STATE_UNUSABLE` for a folder that is something else, another user's or open to others; `STATE_NEWER`.
 */
export async function openStateFolder(given: string): Promise<StateFolder> {
  return places(await openPrivateFolder(given, layout).catch(ofState));
}

/**
 * The places of a state folder for commands that make nothing; undefined before the first use, which is no fault.
 * @throws {AppError} `STATE_UNUSABLE` for a folder that is something else; `STATE_NEWER`.
 */
export async function tryFindStateFolder(given: string): Promise<StateFolder | undefined> {
  if (await isUnused(given)) return undefined;
  return places(await findPrivateFolder(given, layout).catch(ofState));
}

async function isUnused(path: string): Promise<boolean> {
  try {
    return (await readdir(path)).length === 0;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT"; // any other is told by who opens it
  }
}

function places(path: string): StateFolder {
  return { path, venvs: join(path, "venvs"), plugins: join(path, "plugins"), audit: join(path, "audit") };
}
