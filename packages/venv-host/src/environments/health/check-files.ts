import { lstatSync } from "node:fs";
import { join, sep } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { FoundDistribution } from "./distributions.js";

// lstat takes a few microseconds against a hundred by way of the thread pool; other work gets its turn in between.
const filesPerTurn = 500;

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
      const found = lstatSync(file, { throwIfNoEntry: false });
      if (found === undefined) return `${path} of ${name} is missing`;
      if (size !== undefined && found.size !== size)
        return `${path} of ${name} has ${found.size} bytes in place of ${size}`;
      seen += 1;
      if (seen % filesPerTurn !== 0) continue;
      await turn();
      signal?.throwIfAborted();
    }
  }
  return undefined;
}
