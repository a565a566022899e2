import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { pathOfText } from "../../src/measure/byte-path.js";
import { readGlobs } from "../../src/measure/glob.js";
import { type MeasuredTree, type MeasureTreePlan, measureTree } from "../../src/measure/measure-tree.js";

const limits = {
  maxEntries: 10_000,
  maxTreeBytes: 1e9,
  maxFileBytes: 1e9,
  buffer: Buffer.alloc(65_536),
  strictFolders: true,
};

/** Measures a folder in this thread. */
export function treeOf(
  root: string,
  ignore: readonly string[] = [],
  more: Partial<MeasureTreePlan> = {},
): MeasuredTree {
  return measureTree({ ...limits, ...more, root: pathOfText(root), globs: readGlobs(ignore) });
}

const script = fileURLToPath(new URL("../../../../fixtures/tree-v1/recompute.py", import.meta.url));

/** The digest by the ten-line Python script, which knows nothing of this package. */
export function recompute(root: string, ignore: readonly string[] = []): string {
  return execFileSync("python3", [script, root, ...ignore], { encoding: "utf8" }).trim();
}
