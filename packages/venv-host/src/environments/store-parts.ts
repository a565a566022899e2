import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { VenvHostError } from "../errors.js";
import { createInstallers, type Installers } from "./installer.js";
import { createInterpreters, type Interpreters } from "./interpreter.js";
import { thisProcess, type Viewer } from "./locks/process-name.js";
import { createUses, type Uses } from "./locks/uses.js";
import { openStoreFolder, type StoreFolder } from "./store-folder.js";
import type { StoreTerms } from "./store-terms.js";

/** What the jobs of one open store work with. */
export interface StoreParts {
  readonly terms: StoreTerms;
  readonly folder: StoreFolder;
  readonly viewer: Viewer;
  readonly uses: Uses;
  readonly interpreters: Interpreters;
  readonly installers: Installers;
  /** Hex, for names that nobody else has. */
  readonly random: () => string;
  /** Aborted when the store is closed. */
  readonly closing: AbortSignal;
}

export async function openStoreParts(terms: StoreTerms, closing: AbortSignal): Promise<StoreParts> {
  const random = (): string => randomBytes(8).toString("hex");
  const folder = await openStoreFolder(terms.path, random);
  const viewer = { self: thisProcess(), isLocal: folder.isLocal };
  return {
    terms,
    folder,
    viewer,
    uses: createUses(folder.uses, folder.used, viewer, random),
    interpreters: createInterpreters(process.env),
    installers: createInstallers(terms.installer, process.env),
    random,
    closing,
  };
}

/** Where the environment of a key lives. */
export function environmentPath({ folder }: StoreParts, key: string): string {
  return join(folder.environments, key);
}

/** Where the locks of a key lie. */
export function lockFolder({ folder }: StoreParts, key: string): string {
  return join(folder.locks, key);
}

/** Whether a name in the store's folders is a key: nothing else there is ever touched. */
export function isKey(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

export function closedError(): VenvHostError {
  return new VenvHostError("STORE_CLOSED", "the environment store was closed");
}
