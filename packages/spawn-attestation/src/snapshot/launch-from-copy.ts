import type { Launch } from "../description.js";
import { AttestationError } from "../errors.js";
import { type Baseline, differenceOf, tracesOf } from "../measure/baseline.js";
import { type BytePath, inFolder, relativeTo, toText } from "../measure/byte-path.js";
import type { MeasureContext } from "../measure/tools.js";
import type { PathTrace } from "../measure/trace.js";
import { type Resolution, resolveLaunch } from "../resolve/resolve.js";
import type { LaunchTerms } from "../terms.js";
import { type Snapshot, takeSnapshot } from "./snapshot.js";

/** A launch whose target is a private copy. */
export interface CopiedLaunch {
  readonly launch: Launch;
  /** What to resolve when it is checked again. */
  readonly terms: LaunchTerms;
  readonly baseline: Baseline;
}

/**
 * Copies what was measured and leads the launch to the copy: the one word that names the target is replaced, and
 * nothing else; `argv0`, the other arguments and the working folder stay as written.
 * @throws {AttestationError} `SNAPSHOT_FAILED`, `TARGET_CHANGED`
 */
export function launchFromCopy(
  terms: LaunchTerms,
  measured: { readonly digest: string; readonly baseline: Baseline },
  snapshots: string,
  context: MeasureContext,
): CopiedLaunch {
  const resolution = resolveLaunch(terms, context.platform);
  const { root, scope, ignore } = resolution.coverage;
  const copy = takeSnapshot({ snapshots, root, scope, ignore, digest: measured.digest }, context.tools);
  const moved = moveTarget(terms, resolution, copy);
  const after = resolveLaunch(moved.terms, context.platform);
  const traces = tracesOf(after);
  compareRest(measured.baseline.traces, traces, moved.changes);
  return { ...moved, baseline: baselineOf(traces, measured, ignore, copy, context) };
}

interface Moved {
  readonly launch: Launch;
  readonly terms: LaunchTerms;
  /** The parts that are meant to be others than before. */
  readonly changes: readonly string[];
}

function moveTarget(terms: LaunchTerms, { target, coverage, launch }: Resolution, copy: Snapshot): Moved {
  const place = toText(placeInCopy(coverage.root, target.trace.realPath, copy.path));
  const from = target.word?.from;
  const { digest: _, ...rest } = terms;
  const watched: LaunchTerms = { ...rest, measureTarget: toText(copy.path), measureIgnore: [], guard: "recheck" };
  const always = ["target", "measureTarget", ...(target.isProgram ? ["interpreter"] : [])];
  if (from === "command") {
    return {
      launch: { ...launch, file: place },
      terms: { ...watched, command: place },
      changes: [...always, "executable"],
    };
  }
  const args = launch.args.map((arg, index) => (index === from ? place : arg));
  return { launch: { ...launch, args }, terms: { ...watched, args }, changes: always };
}

function placeInCopy(root: BytePath, target: BytePath, copy: BytePath): BytePath {
  const inside = relativeTo(root, target);
  if (inside !== undefined) return inFolder(copy, inside);
  if (root === target) return copy;
  throw new Error(`target ${target} is not in ${root}`);
}

/** The programs on the way to the target are still those that were measured. */
function compareRest(
  before: Readonly<Record<string, PathTrace>>,
  after: Readonly<Record<string, PathTrace>>,
  changes: readonly string[],
): void {
  const rest = (traces: Readonly<Record<string, PathTrace>>): Record<string, PathTrace> =>
    Object.fromEntries(Object.entries(traces).filter(([part]) => !changes.includes(part)));
  const difference = differenceOf(rest(before), rest(after));
  if (difference === undefined) return;
  throw new AttestationError("TARGET_CHANGED", `what runs is not what was measured: ${difference}`, {
    advice: "try again when nothing writes to it",
  });
}

function baselineOf(
  traces: Readonly<Record<string, PathTrace>>,
  { baseline: before, digest }: { readonly digest: string; readonly baseline: Baseline },
  headerIgnore: readonly string[],
  copy: Snapshot,
  { tools }: MeasureContext,
): Baseline {
  const paths = new Set(
    [...Object.values(traces), ...before.extra.map((extra) => extra.trace)].map((trace) => toText(trace.realPath)),
  );
  const digests = Object.fromEntries(Object.entries(before.digests).filter(([path]) => paths.has(path)));
  const newest = copy.tree?.fingerprint.newestCtimeNs ?? traces["target"]?.end.ctimeNs ?? 0n;
  const isFresh = before.isFresh || newest > tools.startedNs;
  const shared = { traces, root: copy.path, extra: before.extra, isFresh };
  if (copy.tree === undefined) return { ...shared, digests: { ...digests, [toText(copy.path)]: digest } };
  const { fingerprint, hex } = copy.tree;
  return {
    ...shared,
    digests,
    tree: { root: copy.path, ignore: [], headerIgnore, strictFolders: true, fingerprint, hex },
  };
}
