import { readdir } from "node:fs/promises";
import { isVenvHostError } from "../errors.js";
import type { StoredEnvironment } from "./environment-store.js";
import { checkStill } from "./health/check-environment.js";
import { folderSize } from "./health/folder-size.js";
import { type ReadyMarker, readMarker } from "./health/ready-marker.js";
import { lookAtLock } from "./locks/build-lock.js";
import { environmentPath, isKey, lockFolder, type StoreParts } from "./store-parts.js";
import { isRefusal } from "./system-fault.js";
import { described } from "./with-lock.js";

/** All environments of a store in order of their keys; none is started. */
export async function listEnvironments(parts: StoreParts, signal: AbortSignal): Promise<readonly StoredEnvironment[]> {
  const published = (await readdir(parts.folder.environments)).filter(isKey);
  const building = (await readdir(parts.folder.building)).map((name) => name.split(".")[0] ?? "").filter(isKey);
  const listed: StoredEnvironment[] = [];
  for (const key of [...new Set([...published, ...building])].sort()) {
    signal.throwIfAborted();
    const environment = await describeEnvironment(parts, key, published.includes(key), signal);
    if (environment !== undefined) listed.push(environment);
  }
  return listed;
}

async function describeEnvironment(
  parts: StoreParts,
  key: string,
  isPublished: boolean,
  signal: AbortSignal,
): Promise<StoredEnvironment | undefined> {
  const path = environmentPath(parts, key);
  const marker = isPublished ? await readMarker(path).catch(unlessRefused) : undefined;
  const holder = await lookAtLock(lockFolder(parts, key), parts.viewer);
  // A build that was killed: nothing that anybody could use.
  if (holder === undefined && !isPublished) return undefined;
  const why = await whyBroken(path, key, marker, signal);
  const isBuilding = holder !== undefined && why !== undefined;
  return {
    key,
    path,
    state: why === undefined ? "ready" : isBuilding ? "building" : "broken",
    message: isBuilding ? `${described(holder)} builds it` : why,
    pythonVersion: marker?.evidence.interpreter.version,
    distributions: marker?.evidence.distributions.length,
    confinement: marker?.evidence.confinement,
    builtFromSource: marker?.evidence.builtFromSource,
    bytes:
      why === undefined && marker !== undefined
        ? marker.bytes
        : ((await folderSize(path, Number.MAX_SAFE_INTEGER, signal).catch(unlessRefused)) ?? 0),
    builtAt: marker?.builtAt,
    lastUsedAt: await parts.uses.lastUsed(key),
    heldBy: await parts.uses.holders(key),
  };
}

async function whyBroken(
  path: string,
  key: string,
  marker: ReadyMarker | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (marker === undefined) return "it has no mark that it was finished";
  try {
    return await checkStill(path, key, marker, signal);
  } catch (error) {
    if (isVenvHostError(error)) return error.message;
    unlessRefused(error);
    return "it cannot be looked into";
  }
}

/** One environment that its own programs closed must not hide all others. */
function unlessRefused(error: unknown): undefined {
  if (!isRefusal(error)) throw error;
  return undefined;
}
