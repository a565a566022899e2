import { constants } from "node:fs";
import { access, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { checkSocketPath } from "../control/control-protocol.js";
import { ShipyardError } from "../errors.js";
import { openStateFolder, placesIn, type StateFolder } from "../state-folder.js";

/** A state folder to try things in. */
export interface StateToCheck {
  readonly state: StateFolder;
  /** For a person: which one it is, or that `serve` would make it. */
  readonly message: string;
  close(): Promise<void>;
}

/**
 * The state folder when there is one, as `serve` opens it. Else nothing is made in its place: it is looked whether it could be, and
 * things are tried in another one, which `close` removes.
 * @throws {ShipyardError} `STATE_UNUSABLE`, `STATE_NEWER`.
 */
export async function findStateToCheck(given: string): Promise<StateToCheck> {
  const path = resolve(given);
  checkSocketPath(placesIn(path));
  if (!(await isAbsentOrEmpty(path))) {
    return { state: await openStateFolder(path), message: path, close: async () => {} };
  }
  await mayBeMade(path);
  const folder = await mkdtemp(join(tmpdir(), "ys-doctor-"));
  const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    return { state: await openStateFolder(join(folder, "s")), message: `${path} is made by serve`, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** False as well for what is no folder, or may not be looked into: whoever opens it says so. */
async function isAbsentOrEmpty(path: string): Promise<boolean> {
  try {
    return (await readdir(path)).length === 0;
  } catch (error) {
    return isAbsence(error);
  }
}

/** Asks the first folder above that there is. */
async function mayBeMade(path: string): Promise<void> {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is no folder`);
      await access(folder, constants.W_OK | constants.X_OK);
      return;
    } catch (cause) {
      if (isAbsence(cause) && dirname(folder) !== folder) continue;
      throw new ShipyardError("STATE_UNUSABLE", `the state folder ${path} cannot be made`, { cause });
    }
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
