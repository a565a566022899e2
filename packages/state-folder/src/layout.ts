import { stat } from "node:fs/promises";
import { join } from "node:path";
import { StateError } from "./errors.js";

/** What a program keeps in its folder, as far as it has to be right before anything is started. */
export interface FolderLayout {
  /** A whole number from 1, raised when the layout changes; a folder of a newer one is refused. */
  readonly format: number;
  /** Names in the folder that are folders, once they are there. */
  readonly folders?: readonly string[] | undefined;
  /** Names in the folder that are sockets, once they are there. */
  readonly sockets?: readonly string[] | undefined;
  /** The name to look at first when others could write into the folder: what this program believes most. */
  readonly trusted?: string | undefined;
}

/** What is there and is something else would be found out in the middle of a start. */
export async function refuseOtherKinds(path: string, { folders = [], sockets = [] }: FolderLayout): Promise<void> {
  await Promise.all([
    ...folders.map((name) => refuseKind(join(path, name), "folder")),
    ...sockets.map((name) => refuseKind(join(path, name), "socket")),
  ]);
}

async function refuseKind(place: string, kind: "folder" | "socket"): Promise<void> {
  const found = await stat(place).catch(() => undefined); // absent: made when it is needed
  if (found === undefined) return;
  if (kind === "folder" ? found.isDirectory() : found.isSocket()) return;
  throw new StateError("STATE_UNUSABLE", `${place} has to be a ${kind} and is none: look at it, and move it away`);
}
