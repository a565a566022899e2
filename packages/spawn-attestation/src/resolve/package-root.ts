import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { type BytePath, inFolder, parentOf, pathOfText, rootPath, segmentsOf, toBuffer } from "../measure/byte-path.js";
import type { InterpreterFamily } from "../measurement.js";

/** Files of this size or more are no package descriptions. */
const maxDescriptionBytes = 4 * 1024 * 1024;

const node: ReadonlySet<InterpreterFamily> = new Set(["node", "bun", "deno"]);

/**
 * The package that a script belongs to; undefined when it stands alone.
 *
 * For Node, Bun and Deno: the nearest folder whose package.json has a `name`, else the nearest with any package.json;
 * never past a `node_modules`. For Python: the nearest folder with pyproject.toml, setup.py or setup.cfg, else the
 * topmost folder of the chain of `__init__.py`; never past site-packages or a virtual environment. A home folder and
 * `/` are never a package, whatever lies in them.
 */
export function packageRoot(
  script: BytePath,
  family: InterpreterFamily,
  home: string | undefined,
): BytePath | undefined {
  const homePath = pathOfText(home ?? "");
  const folders = foldersAbove(script).filter((folder) => folder !== homePath);
  if (node.has(family)) return nodeRoot(folders);
  return family === "python" ? pythonRoot(folders) : undefined;
}

/**
 * What a snapshot copies for a script under `node_modules`: the folder that holds the outermost one. Where that folder
 * is no project of its own (a global prefix such as /usr/lib, or a home folder), the `node_modules` folder itself.
 */
export function installRoot(script: BytePath, home: string | undefined): BytePath | undefined {
  const segments = segmentsOf(script);
  const at = segments.indexOf(pathOfText("node_modules"));
  if (at < 0) return undefined;
  const modules = segments.slice(0, at + 1).reduce(inFolder, rootPath);
  const holder = parentOf(modules);
  const isProject = holder !== rootPath && holder !== pathOfText(home ?? "") && isFile(holder, "package.json");
  return isProject ? holder : modules;
}

/** Nearest first, `/` apart. */
export function foldersAbove(path: BytePath): readonly BytePath[] {
  const folders: BytePath[] = [];
  for (let folder = parentOf(path); folder !== rootPath; folder = parentOf(folder)) folders.push(folder);
  return folders;
}

/** The virtual environment that a folder lies in: it holds pyvenv.cfg. */
export function virtualEnvironmentOf(path: BytePath): BytePath | undefined {
  return foldersAbove(path).find(isVirtualEnvironment);
}

export function isVirtualEnvironment(folder: BytePath): boolean {
  return isFile(folder, "pyvenv.cfg");
}

/** Virtual environments right below a folder, as the globs that leave them out. */
export function innerEnvironments(folder: BytePath): readonly string[] {
  return namesIn(folder).filter(
    (name) => /^[^?[\]{}!\\*]+$/.test(name) && isVirtualEnvironment(inFolder(folder, pathOfText(name))),
  );
}

/** Names in a folder; none when it cannot be read, since this only looks for marks. */
export function namesIn(folder: BytePath): readonly string[] {
  try {
    return readdirSync(toBuffer(folder), { encoding: "utf8" }).sort();
  } catch {
    return [];
  }
}

export function isFile(folder: BytePath, name: string): boolean {
  return statOf(inFolder(folder, pathOfText(name)))?.isFile() === true;
}

export function isFolder(path: BytePath): boolean {
  return statOf(path)?.isDirectory() === true;
}

function statOf(path: BytePath): Stats | undefined {
  try {
    return statSync(toBuffer(path), { throwIfNoEntry: false });
  } catch {
    // Not ours to look at: then it marks nothing, and the measurement says what cannot be read.
    return undefined;
  }
}

/** A small description file, parsed; undefined when it is absent, too large or not a JSON object. */
export function readDescription(folder: BytePath, name: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(readSmallFile(folder, name) ?? "null");
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The text of a description file; undefined when it is absent, too large or no regular file. */
export function readSmallFile(folder: BytePath, name: string): string | undefined {
  if (!isFile(folder, name)) return undefined;
  try {
    // Not blocking, in case a FIFO took the file's place since.
    const descriptor = openSync(
      toBuffer(inFolder(folder, pathOfText(name))),
      constants.O_RDONLY | (constants.O_NONBLOCK ?? 0),
    );
    try {
      return fstatSync(descriptor).size > maxDescriptionBytes ? undefined : readFileSync(descriptor, "utf8");
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Only a mark is looked for; whether the file matters is for the measurement to say.
    return undefined;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nodeRoot(folders: readonly BytePath[]): BytePath | undefined {
  const ceiling = folders.findIndex((folder) => folder.endsWith("/node_modules"));
  const inside = ceiling < 0 ? folders : folders.slice(0, ceiling);
  const described = inside.filter((folder) => isFile(folder, "package.json"));
  const named = described.find((folder) => typeof readDescription(folder, "package.json")?.["name"] === "string");
  return named ?? described[0];
}

const pythonMarks = ["pyproject.toml", "setup.py", "setup.cfg"];

function pythonRoot(folders: readonly BytePath[]): BytePath | undefined {
  const ceiling = folders.findIndex(
    (folder) => /\/(?:site|dist)-packages$/.test(folder) || isVirtualEnvironment(folder),
  );
  const inside = ceiling < 0 ? folders : folders.slice(0, ceiling);
  const project = inside.find((folder) => pythonMarks.some((mark) => isFile(folder, mark)));
  if (project !== undefined) return project;
  const outside = inside.findIndex((folder) => !isFile(folder, "__init__.py"));
  return inside[(outside < 0 ? inside.length : outside) - 1];
}
