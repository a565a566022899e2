import { lstatSync } from "node:fs";
import { join, sep } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { systemCode } from "../system-fault.js";
import type { FoundDistribution } from "./distributions.js";

// lstat takes a few microseconds against a hundred by way of the thread pool; other work gets its turn in between.
const filesPerTurn = 500;
const maxShownChars = 300;

/**
 * Whether each file that the distributions say is theirs is there and as long as they say: one sentence when not. Content
 * is not read; what an interpreter wrote beside it (`__pycache__`) does not count.
 */
export async function checkFiles(
  environment: string,
  sitePackages: string,
  distributions: readonly FoundDistribution[],
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  let seen = 0;
  for (const { name, files } of distributions) {
    for (const { path, size } of files ?? []) {
      const file = join(sitePackages, path);
      if (!file.startsWith(environment + sep) || path.includes("__pycache__/") || path.endsWith("/RECORD")) continue;
      const why = whyNotWhole(file, size);
      if (why !== undefined) return `${shown(path)} of ${name} ${why}`;
      seen += 1;
      if (seen % filesPerTurn !== 0) continue;
      await turn();
      signal?.throwIfAborted();
    }
  }
  return undefined;
}

function whyNotWhole(file: string, size: number | undefined): string | undefined {
  try {
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found === undefined) return "is missing";
    return size === undefined || found.size === size ? undefined : `has ${found.size} bytes in place of ${size}`;
  } catch (error) {
    // A name too long, or with a NUL in it, and what may not be looked at: no file of a whole distribution.
    return `cannot be looked at: ${systemCode(error) ?? "no file can have that name"}`;
  }
}

/** A record may name anything. */
const shown = (path: string): string => path.slice(0, maxShownChars).replace(/\p{Cc}/gu, "?");
