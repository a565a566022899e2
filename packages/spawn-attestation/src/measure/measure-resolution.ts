import type { Coverage, Measurement } from "../measurement.js";
import { ignoresVariables } from "../resolve/python.js";
import { type Resolution, resolveLaunch, withLaunch } from "../resolve/resolve.js";
import type { ShimQuestion } from "../shim.js";
import type { LaunchTerms } from "../terms.js";
import { type Baseline, tracesOf } from "./baseline.js";
import { toText } from "./byte-path.js";
import { readGlobs } from "./glob.js";
import { interpreterOf, questionFor } from "./interpreter.js";
import { measureTree } from "./measure-tree.js";
import { createFileDigests, type FileDigests } from "./program-digests.js";
import { recheckNow } from "./recheck-now.js";
import type { MeasureContext, MeasureTools } from "./tools.js";

/** A measurement as a thread hands it over. */
export interface RawMeasurement {
  readonly measurement: Measurement;
  readonly baseline: Baseline;
  /** The interpreter is a shim that has not been asked yet: its digest is the shim's own. */
  readonly question?: ShimQuestion | undefined;
}

/**
 * Resolves and measures, and compares every identity once more at the end.
 * @throws {AttestationError} with the launch, once it is known.
 */
export function measureNow(terms: LaunchTerms, context: MeasureContext): RawMeasurement {
  const resolution = resolveLaunch(terms, context.platform);
  try {
    const raw = measureResolution(resolution, context);
    // Contents are left to the later checks: now, within the same tick, they would be read in vain.
    recheckNow(terms, { ...raw.baseline, isFresh: false }, context);
    return raw;
  } catch (error) {
    throw withLaunch(error, resolution.launch);
  }
}

function measureResolution(resolution: Resolution, context: MeasureContext): RawMeasurement {
  const { tools } = context;
  const { executable, launch, guard, target } = resolution;
  const digests = createFileDigests(context);
  const covered = measureCovered(resolution, tools, digests);
  const measurement: Measurement = {
    digest: covered.digest,
    launch,
    executable: {
      path: executable.path,
      realPath: toText(executable.trace.realPath),
      digest: digests.of(executable.trace),
    },
    interpreter: interpreterOf(resolution, digests),
    target: {
      path: toText((target.named ?? target.trace).realPath),
      argument: argumentOf(resolution),
      inArgv: target.word !== undefined,
    },
    coverage: coverageOf(resolution),
    guard,
    files: covered.files,
    bytes: covered.bytes,
    warnings: warningsOf(resolution),
  };
  const baseline = baselineOf(resolution, covered, digests, tools);
  return { measurement, baseline, question: questionFor(resolution) };
}

function argumentOf({ target, launch }: Resolution): string | undefined {
  const from = target.word?.from;
  return typeof from === "number" ? launch.args[from] : target.word?.text;
}

interface Covered {
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
  readonly tree: Baseline["tree"];
}

function measureCovered({ coverage, target }: Resolution, tools: MeasureTools, digests: FileDigests): Covered {
  const { root, ignore, strictFolders, scope } = coverage;
  if (scope === "file") {
    const trace = target.named ?? target.trace;
    return { digest: digests.of(trace), files: 1, bytes: Number(trace.end.size), tree: undefined };
  }
  const measured = measureTree({ ...tools, root, globs: readGlobs(ignore), strictFolders });
  const { hex, files, bytes, fingerprint } = measured;
  return { digest: `tree-v1:${hex}`, files, bytes, tree: { root, ignore, strictFolders, fingerprint, hex } };
}

function coverageOf({ coverage }: Resolution): Coverage {
  const { scope, root, ignore, leavesOut } = coverage;
  return { scope, root: toText(root), ignore, leavesOut };
}

function baselineOf(resolution: Resolution, { tree }: Covered, digests: FileDigests, tools: MeasureTools): Baseline {
  const traces = tracesOf(resolution);
  const files = Object.values(traces).filter((trace) => trace.end.kind === "file");
  const changes = [...files.map((trace) => trace.end.ctimeNs), tree?.fingerprint.newestCtimeNs ?? 0n];
  const isFresh = changes.some((changeNs) => changeNs > tools.startedNs - tickNs);
  return { traces, root: resolution.coverage.root, extra: [], tree, digests: Object.fromEntries(digests.all), isFresh };
}

/** Two ticks of the slowest kernel clock (100 Hz): changes that are nearer to each other can leave the same time. */
const tickNs = 20_000_000n;

function warningsOf({ followed, target }: Resolution): readonly string[] {
  if (followed.table?.family !== "python" || target.isProgram) return [];
  const writesCache = ignoresVariables(target.scan) && !target.scan.options.includes("-B");
  return writesCache
    ? ["python -I and -E ignore PYTHONDONTWRITEBYTECODE: add -B, or __pycache__ changes the digest"]
    : [];
}
