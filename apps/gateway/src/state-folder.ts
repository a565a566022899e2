import { join } from "node:path";
import { defaultStatePath, findPrivateFolder, openPrivateFolder } from "@berth/state-folder";
import { ofState } from "./errors.js";

/** Places inside a state folder. */
export interface StateFolder {
  readonly path: string;
  /** One folder a log, one log a process. */
  readonly audit: string;
  /** Pins of the servers that `run` started. */
  readonly runCatalog: string;
  /** A record of each living child. */
  readonly children: string;
  readonly snapshots: string;
  readonly scratch: string;
  readonly locks: string;
  /** The store of the plugins' environments. */
  readonly venvs: string;
}

const layout = {
  format: 1,
  folders: ["audit", "children", "snapshots", "scratch", "locks"],
  trusted: "run-catalog.json",
} as const;

/** Where state lies unless `--state` says otherwise. */
export const usualStatePath = (): string => defaultStatePath("berth", process.env);

/**
 * Opens a state folder, and makes it (0700) when it is absent or empty. Many processes may do so at once.
 * @throws {GatewayError} `STATE_UNUSABLE` for a folder that is something else, another user's or open to others; `STATE_NEWER`.
 */
export async function openStateFolder(given: string): Promise<StateFolder> {
  return places(await openPrivateFolder(given, layout).catch(ofState));
}

/**
 * The places of a state folder that must exist already, for commands that only read.
 * @throws {GatewayError} `STATE_UNUSABLE`, `STATE_NEWER`.
 */
export async function findStateFolder(given: string): Promise<StateFolder> {
  return places(await findPrivateFolder(given, layout).catch(ofState));
}

function places(path: string): StateFolder {
  return {
    path,
    audit: join(path, "audit"),
    runCatalog: join(path, "run-catalog.json"),
    children: join(path, "children"),
    snapshots: join(path, "snapshots"),
    scratch: join(path, "scratch"),
    locks: join(path, "locks"),
    venvs: join(path, "venvs"),
  };
}
