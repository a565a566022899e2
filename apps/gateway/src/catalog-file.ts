import { hash } from "node:crypto";
import { access } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { type Catalog, readCatalog } from "@berth/mcp-relay";
import { replaceFile } from "@berth/state-folder";
import { GatewayError } from "./errors.js";
import { maxCatalogBytes, readText } from "./read-text.js";
import { withShortLock } from "./short-lock.js";

/** A catalog as it lies on disk. */
export interface CatalogFile {
  /** Absolute. */
  readonly path: string;
  /** Paths in the catalog are relative to it. */
  readonly directory: string;
  readonly text: string;
  /** `sha256:HEX` of the file. */
  readonly digest: string;
  readonly catalog: Catalog;
}

/** @throws {GatewayError} `CATALOG_UNREADABLE`, or `CATALOG_INVALID` with every problem and its line. */
export async function loadCatalog(given: string): Promise<CatalogFile> {
  const path = resolve(given);
  const text = await readText(path, maxCatalogBytes).catch((cause: unknown) => {
    if (cause instanceof GatewayError) throw cause;
    const reason = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    throw new GatewayError("CATALOG_UNREADABLE", `the catalog ${path} cannot be read (${reason})`, { cause });
  });
  return parseCatalog(path, text);
}

/** The same for a text that is at hand already. */
export function parseCatalog(path: string, text: string): CatalogFile {
  const reading = readCatalog(text);
  if (!reading.ok) {
    const lines = reading.problems.map(
      ({ line, column, path: place, message }) => `${path}:${line}:${column}  ${`${place} ${message}`.trim()}`,
    );
    const count = lines.length === 1 ? "a problem" : `${lines.length} problems`;
    throw new GatewayError("CATALOG_INVALID", `the catalog has ${count}`, { lines });
  }
  const digest = `sha256:${hash("sha256", text, "hex")}`;
  return { path, directory: dirname(path), text, digest, catalog: reading.catalog };
}

/** How to change a catalog. */
export interface UpdateOptions {
  /** Folder of the lock. Default: one beside the file. */
  readonly lock?: string | undefined;
  /** Ends the wait for another process that writes; nothing is written then. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Changes a catalog in one step, from what it holds at that moment.
 * @throws {GatewayError} `CATALOG_UNREADABLE` when there is no folder for it; `LOCKED`.
 */
export async function updateCatalog(
  path: string,
  edit: (text: string | undefined) => string,
  { lock = join(dirname(path), `.${basename(path)}.lock`), signal }: UpdateOptions = {},
): Promise<void> {
  await access(dirname(path)).catch((cause: unknown) => {
    throw new GatewayError("CATALOG_UNREADABLE", `there is no folder ${dirname(resolve(path))}`, { cause });
  });
  const change = async (): Promise<void> => {
    const text = await readText(path, maxCatalogBytes).catch(ifAbsent);
    const edited = edit(text);
    if (edited !== text) await replaceFile(path, edited);
  };
  await withShortLock(lock, change, signal);
}

/** For `catch`: undefined when there is no such file, else the error again. */
export function ifAbsent(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
