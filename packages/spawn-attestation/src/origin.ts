import { type BytePath, inFolder, parentOf, pathOfText, printable, relativeTo, toText } from "./measure/byte-path.js";
import type { Measurement } from "./measurement.js";
import { sitePackages } from "./resolve/coverage.js";
import { foldersAbove, isRecord, namesIn, readDescription, readSmallFile } from "./resolve/package-root.js";

/** Where a target says that it comes from: its own claim, not checked by anybody. */
export interface Origin {
  readonly ecosystem: "npm" | "python";
  readonly name: string;
  readonly version?: string | undefined;
  readonly publisher?: string | undefined;
  /** The file that says so. */
  readonly source: string;
}

/** What the nearest package.json or dist-info says about a target; undefined when none does. */
export function findOrigin(measurement: Measurement): Origin | undefined {
  const target = pathOfText(measurement.target.path);
  const family = measurement.interpreter?.family;
  if (family === "python") return fromDistInfo(target, pathOfText(measurement.interpreter?.path ?? "/"));
  return family === "node" || family === "bun" || family === "deno" ? fromPackageJson(target) : undefined;
}

function fromPackageJson(target: BytePath): Origin | undefined {
  for (const folder of [target, ...foldersAbove(target)]) {
    const said = readDescription(folder, "package.json");
    const name = text(said?.["name"]);
    if (name === undefined) continue;
    const author = said?.["author"];
    return {
      ecosystem: "npm",
      name,
      version: text(said?.["version"]),
      publisher: text(isRecord(author) ? author["name"] : author),
      source: toText(inFolder(folder, pathOfText("package.json"))),
    };
  }
  return undefined;
}

/** Environments with more packages than this are not searched. */
const maxPackages = 2_000;

/** The distribution whose RECORD lists the file, in the target's own site-packages or the interpreter's. */
function fromDistInfo(target: BytePath, interpreter: BytePath): Origin | undefined {
  const own = foldersAbove(target).find((folder) => /\/(?:site|dist)-packages$/.test(folder));
  const packages = own ?? sitePackages(interpreter);
  if (packages === undefined) return undefined;
  const listed = relativeTo(packages, target) ?? upFrom(packages, target);
  if (listed === undefined) return undefined;
  const names = namesIn(packages).filter((name) => name.endsWith(".dist-info"));
  for (const name of names.slice(0, maxPackages)) {
    const folder = inFolder(packages, pathOfText(name));
    const record = readSmallFile(folder, "RECORD") ?? "";
    const lists = `\n${record}`.includes(`\n${toText(listed)},`) || `\n${record}`.includes(`\n${toText(listed)}/`);
    if (lists) return fromMetadata(folder, name);
  }
  return undefined;
}

/** RECORD names a script of the environment as `../../../bin/NAME`. */
function upFrom(packages: BytePath, target: BytePath): BytePath | undefined {
  const environment = parentOf(parentOf(parentOf(packages)));
  const inside = relativeTo(environment, target);
  return inside === undefined ? undefined : inFolder(pathOfText("../../.."), inside);
}

function fromMetadata(folder: BytePath, name: string): Origin {
  const said = readSmallFile(folder, "METADATA") ?? "";
  const headers = said.split(/\r?\n\r?\n/, 1)[0] ?? "";
  const header = (key: string): string | undefined => text(new RegExp(`^${key}: (.+)$`, "m").exec(headers)?.[1]);
  return {
    ecosystem: "python",
    name: header("Name") ?? printable(name.replace(/-.*$/, "")),
    version: header("Version"),
    publisher: header("Author") ?? header("Author-email") ?? header("Maintainer"),
    source: toText(inFolder(folder, pathOfText("METADATA"))),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? printable(value) : undefined;
}
