import { join } from "node:path";
import { defaultStatePath, findPrivateFolder, openPrivateFolder } from "@berth/state-folder";
import { ofState } from "./errors.js";

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

const layout = { format: 1, folders: ["audit", "w", "uploads"], sockets: ["control.sock"] } as const;

/** Where state lies unless `--state` says otherwise. */
export const usualStatePath = (): string => defaultStatePath("berth", process.env);

/**
 * Opens a state folder, and makes it (0700) when it is absent or empty. Many processes may do so at once.
 * @throws {ShipyardError} `STATE_UNUSABLE` for a folder that is something else, another user's or open to others; `STATE_NEWER`.
 */
export async function openStateFolder(given: string): Promise<StateFolder> {
  return placesIn(await openPrivateFolder(given, layout).catch(ofState));
}

/**
 * The places of a state folder that must exist already, for commands that only read.
 * @throws {ShipyardError} `STATE_UNUSABLE`, `STATE_NEWER`.
 */
export async function findStateFolder(given: string): Promise<StateFolder> {
  return placesIn(await findPrivateFolder(given, layout).catch(ofState));
}

/** Where in a state folder what lies, whether it is there or not. */
export function placesIn(path: string): StateFolder {
  return {
    path,
    audit: join(path, "audit"),
    leases: join(path, "leases.db"),
    workers: join(path, "w"),
    uploads: join(path, "uploads"),
    control: join(path, "control.sock"),
  };
}
