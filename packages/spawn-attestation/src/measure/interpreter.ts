import type { FileDigest } from "../description.js";
import type { Interpreter } from "../measurement.js";
import { withoutCodeLoading } from "../resolve/environment.js";
import type { Followed } from "../resolve/follow.js";
import { namesIn } from "../resolve/package-root.js";
import type { Resolution } from "../resolve/resolve.js";
import type { ShimQuestion } from "../shim.js";
import { type BytePath, inFolder, parentOf, pathOfText, toText } from "./byte-path.js";
import { busy } from "./identity.js";
import type { FileDigests } from "./program-digests.js";
import { type PathTrace, tracePath } from "./trace.js";

/** The interpreter of a launch; a shim's is measured as the shim's own file until it has been asked. */
export function interpreterOf(
  { followed, target }: Resolution,
  digests: FileDigests,
  libraries: readonly PathTrace[],
): Interpreter | undefined {
  if (target.isProgram) return undefined;
  const { trace, path } = followed.program;
  return {
    family: followed.table?.family ?? "other",
    kind: followed.kind,
    path,
    realPath: toText(trace.realPath),
    digest: digests.of(trace),
    parts: [...onTheWay(followed, digests), ...libraries.map((library) => fileDigest(library, digests))],
  };
}

/** The interpreter behind a shim, once it is known. */
export function behindShim(
  shim: Interpreter,
  answer: string,
  found: PathTrace,
  digests: FileDigests,
  libraries: readonly PathTrace[],
): Interpreter {
  const own: FileDigest = { path: shim.path, digest: shim.digest };
  return {
    ...shim,
    realPath: toText(found.realPath),
    answer,
    digest: digests.of(found),
    parts: [...shim.parts, own, ...libraries.map((library) => fileDigest(library, digests))],
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

/** Such libraries in the `lib` folder beside the folder of a program, each real file once. */
export function librariesOf(program: BytePath): readonly PathTrace[] {
  const folder = inFolder(parentOf(parentOf(program)), pathOfText("lib"));
  if (folder === pathOfText("/lib") || folder === pathOfText("/usr/lib")) return [];
  const traces = namesIn(folder)
    .filter((name) => library.test(name))
    .map((name) => tracePath(inFolder(folder, pathOfText(name)), busy))
    .filter((trace) => trace.end.kind === "file");
  return [...new Map(traces.map((trace) => [trace.realPath, trace])).values()];
}

/** What to ask a shim; undefined when this kind of interpreter cannot be asked. */
export function questionFor({ followed, launch }: Resolution): ShimQuestion | undefined {
  const args = followed.kind === "shim" ? followed.table?.ask : undefined;
  if (args === undefined) return undefined;
  const file = followed.program.path;
  return { file, argv0: file, args, env: withoutCodeLoading(followed.env), cwd: launch.cwd };
}
