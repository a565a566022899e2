import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChildRecord, ProcessIdentity } from "./child-record.js";
import { StdioTransportError } from "./errors.js";

const suffix = ".json";

/**
 * Writes the record of a child, visible as a whole or not at all. Not flushed to disk: after a crash of the machine there
 * is nobody left to end.
 * @returns Its path.
 * @throws {StdioTransportError} `REGISTRY_UNWRITABLE`.
 */
export async function writeRecord(folder: string, record: ChildRecord): Promise<string> {
  const { pid, startTime } = record.host;
  const namespace = record.world.pidNamespace.replace(/\D/g, "");
  const path = join(folder, `${namespace}-${pid}-${startTime}-${randomBytes(8).toString("hex")}${suffix}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(`${path}.part`, JSON.stringify(record), { mode: 0o600, flag: "wx" });
    await rename(`${path}.part`, path);
    return path;
  } catch (cause) {
    throw new StdioTransportError("REGISTRY_UNWRITABLE", `cannot record a child in ${folder}`, { cause });
  }
}

/** Removes a record; that it is gone already is fine. */
export async function removeRecord(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** A file of the registry folder. Without record it could not be read: half written, or not by us. */
export interface RegistryFile {
  readonly path: string;
  /** The host that wrote it, and the pid namespace that it lives in, from the name. */
  readonly host: ProcessIdentity;
  readonly pidNamespace: string;
  readonly record: ChildRecord | undefined;
}

/** All files of the folder that are ours by their name; none when there is no folder. */
export async function readRegistry(folder: string): Promise<readonly RegistryFile[]> {
  const files: RegistryFile[] = [];
  for (const name of await listFolder(folder)) {
    const [, namespace, pid, startTime] = /^(\d+)-(\d+)-(\d+)-[0-9a-f]{16}\.json(?:\.part)?$/.exec(name) ?? [];
    if (startTime === undefined) continue;
    const path = join(folder, name);
    const record = name.endsWith(suffix) ? await readRecord(path) : undefined;
    files.push({ path, host: { pid: Number(pid), startTime }, pidNamespace: `pid:[${namespace}]`, record });
  }
  return files;
}

async function listFolder(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

async function readRecord(path: string): Promise<ChildRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return isChildRecord(value) ? value : undefined;
  } catch {
    return undefined; // removed by its host meanwhile, or not JSON
  }
}

function isChildRecord(value: unknown): value is ChildRecord {
  if (!isObject(value) || value["format"] !== 1 || typeof value["file"] !== "string") return false;
  const { world, host, session, command, processes } = value;
  return (
    isObject(world) &&
    typeof world["bootId"] === "string" &&
    typeof world["pidNamespace"] === "string" &&
    isIdentity(host, 1) &&
    isNumber(session, 2) &&
    isNumber(command, 2) &&
    Array.isArray(processes) &&
    processes.every((one) => isIdentity(one, 2))
  );
}

function isIdentity(value: unknown, least: number): value is ProcessIdentity {
  return isObject(value) && isNumber(value["pid"], least) && typeof value["startTime"] === "string";
}

/** What may be killed is at least 2: 0 would be our own group, 1 the machine's first process, or a container's host. */
function isNumber(value: unknown, least: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
