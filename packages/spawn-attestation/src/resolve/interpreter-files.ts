import { type BytePath, inFolder, parentOf, pathOfText } from "../measure/byte-path.js";
import { busy } from "../measure/identity.js";
import { tracePath, type WatchedFile } from "../measure/trace.js";
import { isVirtualEnvironment, namesIn } from "./package-root.js";

/** The shared library that holds the interpreter proper, where its program is only a small launcher. */
const library = /^lib(?:python\d|ruby|perl|node|php\d|lua)[\w.-]*\.(?:so|dylib)[\d.]*$/;

/**
 * Files that belong to an interpreter: such libraries in the `lib` folder beside its real folder, and the pyvenv.cfg by
 * which a virtual environment's python finds everything else. Each real file once.
 */
export function filesBeside(path: BytePath, realPath: BytePath): readonly WatchedFile[] {
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
