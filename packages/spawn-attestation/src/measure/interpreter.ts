import type { FileDigest } from "../description.js";
import type { Interpreter } from "../measurement.js";
import { withoutCodeLoading } from "../resolve/environment.js";
import type { Followed } from "../resolve/follow.js";
import type { Resolution } from "../resolve/resolve.js";
import type { ShimQuestion } from "../shim.js";
import { toText } from "./byte-path.js";
import type { FileDigests } from "./program-digests.js";
import type { PathTrace, WatchedFile } from "./trace.js";

/** The interpreter of a launch; a shim's is measured as the shim's own file until it has been asked. */
export function interpreterOf({ followed, target, beside }: Resolution, digests: FileDigests): Interpreter | undefined {
  if (target.isProgram) return undefined;
  const { trace, path } = followed.program;
  return {
    family: followed.table?.family ?? "other",
    kind: followed.kind,
    path,
    realPath: toText(trace.realPath),
    digest: digests.of(trace),
    parts: [...onTheWay(followed, digests), ...beside.map(({ trace }) => fileDigest(trace, digests))],
  };
}

/** The interpreter behind a shim, once it is known. */
export function behindShim(
  shim: Interpreter,
  answer: string,
  found: PathTrace,
  digests: FileDigests,
  beside: readonly WatchedFile[],
): Interpreter {
  const own: FileDigest = { path: shim.path, digest: shim.digest };
  return {
    ...shim,
    realPath: toText(found.realPath),
    answer,
    digest: digests.of(found),
    parts: [...shim.parts, own, ...beside.map(({ trace }) => fileDigest(trace, digests))],
  };
}

function onTheWay(followed: Followed, digests: FileDigests): readonly FileDigest[] {
  return followed.via.map((program) => ({ path: program.path, digest: digests.of(program.trace) }));
}

function fileDigest(trace: PathTrace, digests: FileDigests): FileDigest {
  return { path: toText(trace.realPath), digest: digests.of(trace) };
}

/** What to ask a shim; undefined when this kind of interpreter cannot be asked. */
export function questionFor({ followed, launch }: Resolution): ShimQuestion | undefined {
  const args = followed.kind === "shim" ? followed.table?.ask : undefined;
  if (args === undefined) return undefined;
  const file = followed.program.path;
  return { file, argv0: file, args, env: withoutCodeLoading(followed.env), cwd: launch.cwd };
}
