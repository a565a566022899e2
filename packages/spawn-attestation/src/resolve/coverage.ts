import type { Guard, SpawnDescription } from "../description.js";
import { AttestationError } from "../errors.js";
import {
  type BytePath,
  inFolder,
  parentOf,
  pathOfText,
  printable,
  relativeTo,
  shown,
  toText,
} from "../measure/byte-path.js";
import { isIgnored, readGlobs } from "../measure/glob.js";
import { busy } from "../measure/identity.js";
import { tracePath } from "../measure/trace.js";
import type { Coverage, InterpreterFamily } from "../measurement.js";
import { codeLoadingNames } from "./environment.js";
import type { Followed } from "./follow.js";
import { absolute } from "./lookup.js";
import {
  foldersAbove,
  innerEnvironments,
  installRoot,
  isFolder,
  namesIn,
  packageRoot,
  virtualEnvironmentOf,
} from "./package-root.js";
import { compiledCode } from "./python.js";
import type { FoundTarget } from "./target.js";

/** What the digest is to cover, before anything is read. */
export interface CoveragePlan {
  readonly scope: Coverage["scope"];
  readonly root: BytePath;
  readonly ignore: readonly string[];
  readonly leavesOut: readonly string[];
  /** A folder's own times belong to its identity: nobody said that data is written into it. */
  readonly strictFolders: boolean;
}

/** What `planCoverage` goes by. */
export interface CoverageInput {
  readonly followed: Followed;
  readonly target: FoundTarget;
  readonly description: SpawnDescription;
  readonly cwd: string;
  readonly guard: Guard;
  /** `__pycache__` is outside the digest. */
  readonly skipsCompiledCode: boolean;
}

/**
 * Decides what is measured: what `measureTarget` names; else the file that a `sha256:` pin is of; else the install root
 * under `guard: "snapshot"`, the package root, or the file.
 * @throws {AttestationError} `TARGET_IGNORED`, `IGNORE_INVALID`
 */
export function planCoverage(input: CoverageInput): CoveragePlan {
  const { target, description } = input;
  const chosen = chooseRoot(input);
  const scope = chosen.isFolder ? "tree" : "file";
  const given = description.measureIgnore ?? [];
  const leaves = scope === "tree" && description.measureWhole !== true;
  const automatic = leaves && target.named === undefined ? automaticIgnores(chosen.root) : [];
  const compiled = leaves && input.skipsCompiledCode ? [compiledCode] : [];
  const globs = scope === "tree" ? readGlobs([...given, ...automatic, ...compiled]) : [];
  const inside = relativeTo(chosen.root, target.trace.realPath);
  if (inside !== undefined && target.word !== undefined && isIgnored(globs, inside)) throw ignored(inside);
  const ignore = globs.map((glob) => glob.text);
  const leavesOut = [
    ...languageParts(input, chosen.root, scope),
    ...preloads(input, chosen.root),
    ...codeLoadingNames(input.followed.env, familyOf(input)).map((name) => `environment:${name}`),
    ...ignore.filter((glob) => glob !== compiledCode).map((glob) => `ignored:${glob}`),
  ];
  return { scope, root: chosen.root, ignore, leavesOut: [...new Set(leavesOut)], strictFolders: given.length === 0 };
}

function chooseRoot({ target, description, guard, followed }: CoverageInput): { root: BytePath; isFolder: boolean } {
  const { realPath, end } = target.named ?? target.trace;
  const own = { root: realPath, isFolder: end.kind === "folder" };
  if (target.named !== undefined || target.isProgram) return own;
  const home = description.env["HOME"];
  const family = followed.table?.family ?? "other";
  const script = own.isFolder ? inFolder(own.root, pathOfText("__main__.py")) : own.root;
  const packaged = packageRoot(script, family, home);
  const installed = guard === "snapshot" ? installRoot(script, home) : undefined;
  if (guard !== "snapshot" && description.digest?.startsWith("sha256:") === true && !own.isFolder) return own;
  const root = installed ?? packaged;
  return root === undefined ? own : { root, isFolder: true };
}

/** Below a root that nobody named: the history of a working copy and virtual environments, whose links lead outside. */
function automaticIgnores(root: BytePath): readonly string[] {
  const history = isFolder(inFolder(root, pathOfText(".git"))) ? [".git"] : [];
  return [...history, ...innerEnvironments(root)];
}

function familyOf({ followed }: CoverageInput): InterpreterFamily {
  return followed.table?.family ?? "other";
}

function languageParts(input: CoverageInput, root: BytePath, scope: Coverage["scope"]): readonly string[] {
  const { followed, target } = input;
  const family = familyOf(input);
  if (target.isProgram) return [];
  const parts = (followed.table?.leavesOut ?? []).map((part) => withPlace(part, followed));
  const called = followed.isScript && followed.kind === "program" ? ["called-programs"] : [];
  const beside = scope === "file" && family !== "shell" ? [`siblings:${toText(parentOf(target.trace.realPath))}`] : [];
  return [...parts, ...called, ...beside, ...hoisted(input, root)];
}

function withPlace(part: string, followed: Followed): string {
  if (part !== "site-packages" || followed.table?.family !== "python") return part;
  const place = sitePackages(pathOfText(followed.program.path));
  return place === undefined ? part : `site-packages:${toText(place)}`;
}

/** Where a virtual environment keeps its packages, by the unresolved path of its interpreter. */
export function sitePackages(interpreter: BytePath): BytePath | undefined {
  const environment = virtualEnvironmentOf(interpreter);
  if (environment === undefined) return undefined;
  const library = inFolder(environment, pathOfText("lib"));
  const folders = namesIn(library)
    .map((name) => inFolder(inFolder(library, pathOfText(name)), pathOfText("site-packages")))
    .filter(isFolder);
  return folders.length === 1 ? folders[0] : undefined;
}

/** Folders of modules that Node, Bun and Deno search above the script and that the digest does not hold. */
function hoisted(input: CoverageInput, root: BytePath): readonly string[] {
  if (!["node", "bun", "deno"].includes(familyOf(input))) return [];
  return foldersAbove(input.target.trace.realPath)
    .filter((folder) => !folder.endsWith("/node_modules"))
    .map((folder) => inFolder(folder, pathOfText("node_modules")))
    .filter((modules) => modules !== root && relativeTo(root, modules) === undefined && isFolder(modules))
    .map((modules) => `hoisted-modules:${toText(modules)}`);
}

/** Options without a value of their own that load code, or lead imports elsewhere than the real path of the script. */
const loadingFlag = /^-(?:-preserve-symlinks.*|(?:javaagent|agentlib|agentpath):.*|X presite.*)$/;

/** Code that options load before the target, unless it lies in what is measured. */
function preloads({ target, cwd }: CoverageInput, root: BytePath): readonly string[] {
  const { preloads: values, options } = target.scan;
  const outside = values.filter((value) => !isInside(value, cwd, root));
  return [...outside, ...options.filter((option) => loadingFlag.test(option))].map(
    (each) => `preload:${printable(each)}`,
  );
}

function isInside(value: string, cwd: string, root: BytePath): boolean {
  if (!/^\.{0,2}\//.test(value)) return false;
  try {
    const { realPath } = tracePath(pathOfText(absolute(value, cwd)), busy);
    return relativeTo(root, realPath) !== undefined;
  } catch {
    // A file that is not there is not inside; the interpreter will say so itself.
    return false;
  }
}

function ignored(path: BytePath): AttestationError {
  return new AttestationError("TARGET_IGNORED", `measureIgnore leaves out ${shown(path)}, which is what runs`, {
    advice: "narrow measureIgnore so that the script is measured",
  });
}
