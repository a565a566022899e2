import { readdir, readFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";

/** What a package says about itself. Nobody vouches for it: it is shown, never decided on. */
export interface PackageFacts {
  readonly name: string;
  readonly version?: string | undefined;
  readonly publisher?: string | undefined;
}

/** The package that a measured file or folder belongs to: the nearest `package.json` above it, or a Python distribution's metadata. */
export async function findPackage(path: string): Promise<PackageFacts | undefined> {
  if (path.split(sep).includes("site-packages")) return findDistribution(path);
  for (let folder = path; ; folder = dirname(folder)) {
    const facts = await tryReadManifest(join(folder, "package.json"));
    if (facts !== undefined) return facts;
    if (dirname(folder) === folder) return undefined;
  }
}

async function tryReadManifest(file: string): Promise<PackageFacts | undefined> {
  let manifest: unknown;
  try {
    manifest = JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined; // absent, or not for us to judge
  }
  const name = textOf(manifest, "name");
  // A package.json that only says "type": "module" names no package.
  if (name === undefined) return undefined;
  return { name, version: textOf(manifest, "version"), publisher: publisherOf(manifest) };
}

function publisherOf(manifest: unknown): string | undefined {
  const author = memberOf(manifest, "author");
  return typeof author === "string"
    ? author
    : (textOf(author, "name") ?? textOf(memberOf(manifest, "publisher"), "name"));
}

/** `site-packages/NAME/…` belongs to `site-packages/NAME-VERSION.dist-info`. */
async function findDistribution(path: string): Promise<PackageFacts | undefined> {
  const steps = path.split(sep);
  const at = steps.lastIndexOf("site-packages");
  const folder = steps.slice(0, at + 1).join(sep);
  const wanted = plain(steps[at + 1]?.replace(/\.py$/u, "") ?? "");
  const entries = await readdir(folder).catch(() => []);
  const found = entries.find((entry) => entry.endsWith(".dist-info") && plain(entry.split("-")[0] ?? "") === wanted);
  if (found === undefined) return undefined;
  const metadata = await readFile(join(folder, found, "METADATA"), "utf8").catch(() => "");
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.+)$`, "mu").exec(metadata)?.[1];
  const name = field("Name");
  return name === undefined
    ? undefined
    : { name, version: field("Version"), publisher: field("Author") ?? field("Author-email") };
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/gu, "_");
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}

function textOf(value: unknown, key: string): string | undefined {
  const member = memberOf(value, key);
  return typeof member === "string" ? member : undefined;
}
