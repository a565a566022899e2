import type { Resolution } from "../resolve/resolve.js";
import { type BytePath, shown } from "./byte-path.js";
import { isSame } from "./identity.js";
import type { TreeFingerprint } from "./measure-tree.js";
import type { PathTrace, WatchedFile } from "./trace.js";

/** By which everything that takes part in a launch is known again. Plain values, so that threads can exchange it. */
export interface Baseline {
  readonly traces: Readonly<Record<string, PathTrace>>;
  /** The folder or file that is covered. */
  readonly root: BytePath;
  /** Files that resolution does not lead to. */
  readonly extra: readonly WatchedFile[];
  readonly tree?: BaselineTree | undefined;
  /** `sha256:` digests of files, by path, for when identities cannot be trusted. */
  readonly digests: Readonly<Record<string, string>>;
  /**
   * Something changed so shortly before it was measured that a change right after might have left the same times
   * (their resolution is a tick of the kernel's clock): then contents are compared as well.
   */
  readonly isFresh: boolean;
}

/** A tree of a baseline. */
export interface BaselineTree {
  readonly root: BytePath;
  readonly ignore: readonly string[];
  /** The globs that the digest names, where they differ: of a copy, which holds nothing that they match. */
  readonly headerIgnore?: readonly string[] | undefined;
  readonly strictFolders: boolean;
  readonly fingerprint: TreeFingerprint;
  /** Of the tree, as `measureTree` gives it with these globs. */
  readonly hex: string;
}

/** The paths of a launch by their part in it. */
export function tracesOf(resolution: Resolution): Record<string, PathTrace> {
  const { followed, target, executable, cwd } = resolution;
  const via = followed.via.map((program, index) => [`program ${index} on the way`, program.trace] as const);
  const named = target.named === undefined ? {} : { measureTarget: target.named };
  const beside = resolution.beside.map(({ part, trace }, index) => [`${part} (${index + 1})`, trace] as const);
  return {
    ...Object.fromEntries([...via, ...beside]),
    ...named,
    "working folder": cwd,
    executable: executable.trace,
    interpreter: followed.program.trace,
    target: target.trace,
  };
}

/** The first difference between two sets of traces, for a message; undefined when there is none. */
export function differenceOf(
  before: Readonly<Record<string, PathTrace>>,
  after: Readonly<Record<string, PathTrace>>,
): string | undefined {
  for (const [part, trace] of Object.entries(before)) {
    const now = after[part];
    if (now === undefined) return `the ${part} is no longer there`;
    const difference = stepDifference(trace, now);
    if (difference !== undefined) return `the ${part} changed: ${difference}`;
  }
  return Object.keys(after).length === Object.keys(before).length ? undefined : "another program is on the way";
}

function stepDifference(before: PathTrace, after: PathTrace): string | undefined {
  for (const [index, step] of before.steps.entries()) {
    const now = after.steps[index];
    if (now === undefined || now.path !== step.path) return `its path now leads to ${shown(after.realPath)}`;
    if (!isSame(step.identity, now.identity)) return `${shown(step.path)} is not the ${step.identity.kind} that it was`;
  }
  return after.steps.length === before.steps.length ? undefined : `its path now leads to ${shown(after.realPath)}`;
}
