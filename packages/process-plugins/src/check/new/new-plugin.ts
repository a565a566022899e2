import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ProcessPluginError } from "../../errors.js";
import { readManifest } from "../../manifest/read-manifest.js";
import { packageFolder } from "./package-folder.js";

/** Languages that a plugin can be begun in. */
export type PluginLanguage = "python" | "typescript" | "shell";

/** What `newPlugin` needs. */
export interface NewPluginOptions {
  readonly language: PluginLanguage;
  /** As `name` of a manifest: `^[a-z0-9][a-z0-9-]{0,63}$`. */
  readonly name: string;
  /** Where it goes; must not be there. */
  readonly folder: string;
}

/** A plugin that was written. */
export interface NewPlugin {
  /** Absolute. */
  readonly folder: string;
  /** Paths in it, in order. */
  readonly files: readonly string[];
}

/** What the templates call the plugin; it is in no other word of theirs. */
const templateName = "my-plugin";

/** Files beside the template, by their place in the plugin. */
const kits: { readonly [Language in PluginLanguage]: (root: string) => Promise<ReadonlyMap<string, string>> } = {
  python: async (root) =>
    new Map([["berth_plugin.py", await readFile(join(root, "python", "berth_plugin.py"), "utf8")]]),
  typescript: readTypeScriptKit,
  shell: async () => new Map(),
};

/**
 * Writes a plugin that works and has its transcript: `check` passes at once.
 * @throws {ProcessPluginError} `OPTION_INVALID`: another language, a name that no manifest may have, a folder that is there or cannot be made.
 */
export async function newPlugin({ language, name, folder }: NewPluginOptions): Promise<NewPlugin> {
  if (!Object.hasOwn(kits, language)) {
    throw invalid(`language is none of ${Object.keys(kits).join(", ")}: ${String(language).slice(0, 100)}`);
  }
  const problem = await nameProblem(name);
  if (problem !== undefined) throw invalid(problem);
  const root = packageFolder();
  const template = await readTemplate(join(root, "templates", language));
  const named = [...template].map(([path, text]) => [path, text.replaceAll(templateName, name)] as const);
  const files = new Map([...named, ...(await kits[language](root))]);
  const path = resolve(folder);
  await writeFolder(path, files);
  return { folder: path, files: [...files.keys()].sort() };
}

/** As the manifest's own reader judges it. */
async function nameProblem(name: string): Promise<string | undefined> {
  const manifest = { name, version: "1.0.0", protocol: 1, process: { command: "./bin/plugin" } };
  const reading = await readManifest(JSON.stringify(manifest));
  return reading.ok ? undefined : reading.problems[0];
}

async function readTemplate(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(
    files.sort().map(async (path) => {
      const inside = path.slice(folder.length + 1);
      // npm leaves out, or renames, what is called .gitignore.
      return [inside === "gitignore" ? ".gitignore" : inside, await readFile(path, "utf8")] as const;
    }),
  );
  return new Map(texts);
}

/** The built entry `/plugin` with what it imports, and its types: a plugin sees its own folder only. */
async function readTypeScriptKit(root: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const add = async (name: string, ending: ".js" | ".d.ts"): Promise<void> => {
    const place = `kit/${name}${ending}`;
    if (files.has(place)) return;
    const text = await readFile(join(root, "dist", `${name}${ending}`), "utf8");
    files.set(place, text.replace(/^\/\/# sourceMappingURL=.*$/m, ""));
    for (const [, imported = ""] of text.matchAll(/from ["']\.\/([\w.-]+)\.js["']/g)) await add(imported, ending);
  };
  await add("plugin", ".js");
  await add("plugin", ".d.ts");
  return files;
}

/** Whole or not at all. Modes are set: what a group may write is no plugin's folder, whatever the umask. */
async function writeFolder(path: string, files: ReadonlyMap<string, string>): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await mkdir(path);
  } catch (error) {
    const isThere = error instanceof Error && "code" in error && error.code === "EEXIST";
    throw invalid(`folder ${path} ${isThere ? "is there already" : `cannot be made: ${String(error)}`}`, error);
  }
  try {
    await chmod(path, 0o755);
    for (const [name, text] of files) {
      const file = join(path, name);
      await mkdir(dirname(file), { recursive: true });
      await chmod(dirname(file), 0o755);
      await writeFile(file, text);
      await chmod(file, name.startsWith("bin/") ? 0o755 : 0o644);
    }
  } catch (error) {
    await rm(path, { recursive: true, force: true });
    throw error;
  }
}

function invalid(message: string, cause?: unknown): ProcessPluginError {
  return new ProcessPluginError("OPTION_INVALID", message, { cause });
}
