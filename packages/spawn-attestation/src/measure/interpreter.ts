import type { FileDigest } from "../description.js";
import type { Interpreter } from "../measurement.js";
import { withoutCodeLoading } from "../resolve/environment.js";
import type { Followed } from "../resolve/follow.js";
import { isVirtualEnvironment, namesIn } from "../resolve/package-root.js";
import type { Resolution } from "../resolve/resolve.js";
import type { ShimQuestion } from "../shim.js";
import type { ExtraTrace } from "./baseline.js";
import { type BytePath, inFolder, parentOf, pathOfText, toText } from "./byte-path.js";
import { busy } from "./identity.js";
import type { FileDigests } from "./program-digests.js";
import { type PathTrace, tracePath } from "./trace.js";

/** The interpreter of a launch; a shim's is measured as the shim's own file until it has been asked. */
export function interpreterOf(
  { followed, target }: Resolution,
  digests: FileDigests,
  beside: readonly ExtraTrace[],
): Interpreter | undefined {
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
  beside: readonly ExtraTrace[],
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

/** The shared library that holds the interpreter proper, where its program is only a small launcher. */
const library = /^lib(?:python\d|ruby|perl|node|php\d|lua)[\w.-]*\.(?:so|dylib)[\d.]*$/;

/**
 * Files that belong to an interpreter: such libraries in the `lib` folder beside its real folder, and the pyvenv.cfg by
 * which a virtual environment's python finds everything else. Each real file once.
 */
export function filesBeside(path: BytePath, realPath: BytePath): readonly ExtraTrace[] {
  const folder = inFolder(parentOf(parentOf(realPath)), pathOfText("lib"));
  const isShared = folder === pathOfText("/lib") || folder === pathOfText("/usr/lib");
  const libraries = isShared ? [] : namesIn(folder).filter((name) => library.test(name));
  const environment = parentOf(parentOf(path));
  const found = [
    ...libraries.map((name) => inFolder(folder, pathOfText(name))),
    ...(isVirtualEnvironment(environment) ? [inFolder(environment, pathOfText("pyvenv.cfg"))] : []),
  ];
  const files = found
    .map((each) => ({ part: "interpreter's own file", path: each, trace: tracePath(each, busy) }))
    .filter(({ trace }) => trace.end.kind === "file");
  return [...new Map(files.map((file) => [file.trace.realPath, file])).values()];
}

/** What to ask a shim; undefined when this kind of interpreter cannot be asked. */
export function questionFor({ followed, launch }: Resolution): ShimQuestion | undefined {
  const args = followed.kind === "shim" ? followed.table?.ask : undefined;
  if (args === undefined) return undefined;
  const file = followed.program.path;
  return { file, argv0: file, args, env: withoutCodeLoading(followed.env), cwd: launch.cwd };
}
