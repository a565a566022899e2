import { AttestationError, isAttestationError } from "../errors.js";
import { type Resolution, resolveLaunch } from "../resolve/resolve.js";
import type { LaunchTerms } from "../terms.js";
import { type Baseline, type BaselineTree, differenceOf, tracesOf } from "./baseline.js";
import { pathOfText, shown } from "./byte-path.js";
import { readGlobs } from "./glob.js";
import { hashFile } from "./hash-file.js";
import { busy } from "./identity.js";
import { fingerprintTree, measureTree } from "./measure-tree.js";
import type { MeasureContext, MeasureTools } from "./tools.js";
import { tracePath } from "./trace.js";

/**
 * Resolves again and compares: every path leads where it led, through the same folders and links, to the same files,
 * and each entry of the measured tree is the one that was measured.
 * @throws {AttestationError} `TARGET_CHANGED`, whatever the way in which it differs.
 */
export function recheckNow(terms: LaunchTerms, baseline: Baseline, { platform, tools }: MeasureContext): void {
  try {
    const resolution = resolveLaunch(terms, platform);
    const difference =
      differenceOf(baseline.traces, tracesOf(resolution)) ??
      rootDifference(baseline, resolution) ??
      extraDifference(baseline) ??
      treeDifference(baseline.tree, tools);
    if (difference !== undefined) throw changed(difference);
    if (baseline.isFresh) compareContents(baseline, tools);
  } catch (error) {
    if (!isAttestationError(error) || error.code === "TARGET_CHANGED") throw error;
    throw changed(error.message, error);
  }
}

function rootDifference({ root }: Baseline, { coverage }: Resolution): string | undefined {
  return root === coverage.root ? undefined : `what belongs to it is now ${shown(coverage.root)}`;
}

function extraDifference({ extra }: Baseline): string | undefined {
  for (const { part, trace, path } of extra) {
    const now = tracePath(path, busy);
    const difference = differenceOf({ [part]: trace }, { [part]: now });
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function treeDifference(tree: BaselineTree | undefined, tools: MeasureTools): string | undefined {
  if (tree === undefined) return undefined;
  const { root, ignore, strictFolders, fingerprint } = tree;
  const now = fingerprintTree({ root, globs: readGlobs(ignore), strictFolders, maxEntries: tools.maxEntries });
  if (now.hex === fingerprint.hex) return undefined;
  return `${shown(root)} changed; its latest change is at ${now.newestPath === "" ? "the folder itself" : now.newestPath}`;
}

function compareContents({ tree, digests }: Baseline, tools: MeasureTools): void {
  for (const [path, digest] of Object.entries(digests)) {
    const { hex } = hashFile(pathOfText(path), { ...tools, codes: busy });
    if (`sha256:${hex}` !== digest) throw changed(`${shown(pathOfText(path))} holds other bytes`);
  }
  if (tree === undefined) return;
  const { root, ignore, headerIgnore = ignore, strictFolders, hex } = tree;
  const headerGlobs = readGlobs(headerIgnore);
  const now = measureTree({ ...tools, root, globs: readGlobs(ignore), headerGlobs, strictFolders });
  if (now.hex !== hex) throw changed(`${shown(root)} holds other bytes`);
}

function changed(why: string, cause?: unknown): AttestationError {
  return new AttestationError("TARGET_CHANGED", `what runs is not what was measured: ${why}`, {
    cause,
    advice: "try again when nothing writes to it; leave data that is written there out with measureIgnore",
  });
}
