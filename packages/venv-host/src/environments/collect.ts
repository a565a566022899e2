import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { VenvHostError } from "../errors.js";
import { sweepBuilds } from "./acquire.js";
import type { CollectOptions, CollectReport, StoredEnvironment } from "./environment-store.js";
import { listEnvironments } from "./list-environments.js";
import { isHeld, tryLock } from "./locks/build-lock.js";
import { moveTree, removeTree } from "./remove-tree.js";
import { environmentPath, isKey, lockFolder, type StoreParts } from "./store-parts.js";
import { systemCode } from "./system-fault.js";

interface Candidate {
  readonly environment: StoredEnvironment;
  readonly why: string;
}

/** Removes what nobody holds and is over a bound, then what killed builds left. */
export async function collect(parts: StoreParts, options: CollectOptions, signal: AbortSignal): Promise<CollectReport> {
  checkOptions(options);
  const listed = await listEnvironments(parts, signal);
  const nowMs = parts.terms.now();
  if (options.isTrial !== true) await pullBack(parts, listed, nowMs);
  const removed: { key: string; bytes: number; why: string }[] = [];
  const failed: { path: string; why: string }[] = [];
  for (const { environment, why } of candidates(listed, options, nowMs)) {
    signal.throwIfAborted();
    const { key, bytes, path } = environment;
    const kept = options.isTrial === true ? undefined : await removeOne(parts, key).catch(faultText);
    if (kept === undefined) removed.push({ key, bytes, why });
    else failed.push({ path, why: kept });
  }
  if (options.isTrial !== true) await sweepAll(parts, signal);
  const freedBytes = removed.reduce((sum, { bytes }) => sum + bytes, 0);
  return { removed, kept: listed.length - removed.length, freedBytes, failed };
}

function checkOptions({ unusedMs = 0, maxBytes = 0 }: CollectOptions): void {
  if ([unusedMs, maxBytes].every((value) => Number.isSafeInteger(value) && value >= 0)) return;
  throw new VenvHostError("OPTION_INVALID", "unusedMs and maxBytes must be whole numbers from 0");
}

/** A clock that was ahead once must not keep an environment for ever. */
async function pullBack(parts: StoreParts, listed: readonly StoredEnvironment[], nowMs: number): Promise<void> {
  for (const { key, lastUsedAt } of listed) {
    if (lastUsedAt !== undefined && lastUsedAt > nowMs) await parts.uses.noteUse(key, nowMs).catch(() => {}); // as in uses.ts
  }
}

/** What should go, least recently used first. Held ones count for the bytes, and stay. */
function candidates(
  listed: readonly StoredEnvironment[],
  options: CollectOptions,
  nowMs: number,
): readonly Candidate[] {
  const { unusedMs, maxBytes } = options;
  const usedAt = ({ lastUsedAt, builtAt }: StoredEnvironment): number => Math.min(lastUsedAt ?? builtAt ?? 0, nowMs);
  const free = listed
    .filter(({ heldBy, state }) => heldBy.length === 0 && state !== "building")
    .sort((one, other) => usedAt(one) - usedAt(other));
  let bytes = listed.reduce((sum, each) => sum + each.bytes, 0);
  const chosen: Candidate[] = [];
  for (const environment of free) {
    const age = nowMs - usedAt(environment);
    const why =
      environment.state === "broken"
        ? `it is broken: ${environment.message}`
        : unusedMs !== undefined && age >= unusedMs
          ? `it was not used for ${age} ms`
          : maxBytes !== undefined && bytes > maxBytes
            ? `all together take ${bytes} bytes`
            : unusedMs === undefined && maxBytes === undefined
              ? "nobody uses it"
              : undefined;
    if (why === undefined) continue;
    chosen.push({ environment, why });
    bytes -= environment.bytes;
  }
  return chosen;
}

/** Undefined when it is gone, else why it stays. Whoever begins to use it looks at the lock after saying so. */
async function removeOne(parts: StoreParts, key: string): Promise<string | undefined> {
  const lock = await tryLock(lockFolder(parts, key), parts.viewer, parts.random);
  if (!isHeld(lock)) return "somebody builds or collects it now";
  const aside = join(parts.folder.building, `${key}.${parts.random()}`);
  try {
    const heldBy = await parts.uses.holders(key);
    if (heldBy.length > 0) return `process ${heldBy.join(", ")} began to use it`;
    await moveTree(environmentPath(parts, key), aside);
    await parts.uses.forget(key);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  } finally {
    await lock.release();
  }
  // It has no name any more that anybody could ask for.
  await removeTree(aside);
  return undefined;
}

async function sweepAll(parts: StoreParts, signal: AbortSignal): Promise<void> {
  await parts.uses.sweepDrafts();
  const keys = (await readdir(parts.folder.building)).map((name) => name.split(".")[0] ?? "").filter(isKey);
  for (const key of new Set(keys)) {
    signal.throwIfAborted();
    const lock = await tryLock(lockFolder(parts, key), parts.viewer, parts.random);
    if (!isHeld(lock)) continue;
    try {
      await sweepBuilds(parts, key);
    } finally {
      await lock.release();
    }
  }
}

function faultText(error: unknown): string {
  return systemCode(error) ?? (error instanceof Error ? error.message : "it could not be removed");
}
