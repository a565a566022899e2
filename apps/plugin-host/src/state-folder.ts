import { join } from "node:path";
import { defaultStatePath, findPrivateFolder, openPrivateFolder } from "@berth/state-folder";
import { ofState } from "./errors.js";

/** Places inside a state folder. */
export interface StateFolder {
  readonly path: string;
  /** The store of environments. */
  readonly venvs: string;
  /** One folder a log, one log a process. */
  readonly audit: string;
}

const layout = { format: 1, folders: ["venvs", "audit"] } as const;

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
 * The places of a state folder that must exist already, for commands that only read.
 * @throws {AppError} `STATE_UNUSABLE`, `STATE_NEWER`.
 */
export async function findStateFolder(given: string): Promise<StateFolder> {
  return places(await findPrivateFolder(given, layout).catch(ofState));
}

function places(path: string): StateFolder {
  return { path, venvs: join(path, "venvs"), audit: join(path, "audit") };
}
