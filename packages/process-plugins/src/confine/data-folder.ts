import { lstat, mkdir, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { ProcessPluginError } from "../errors.js";
import { problemsAbove } from "../tree/check-folder.js";
import { entryFaults, trustedOwners } from "../tree/entry-faults.js";
import type { InspectedPlugin } from "../tree/inspected-plugin.js";
import { dataFolders } from "./plugin-environment.js";

/**
 * Makes the data folder of a plugin, and in it `home` and `tmp`, where they are not there. What is in it was written by the plugin: no
 * link of it is followed.
 * @returns Its real path.
 * @throws {ProcessPluginError} `OPTION_INVALID` for a folder that others could write, that is a link, or that holds the plugin or lies in it;
 * `PLUGIN_NOT_STARTED` where the plugin put something else in the place of `home` or `tmp`.
 */
export async function prepareDataFolder(
  dataFolder: string,
  { root, manifest }: Pick<InspectedPlugin, "root" | "manifest">,
): Promise<string> {
  const invalid = (why: string, cause?: unknown): ProcessPluginError =>
    new ProcessPluginError("OPTION_INVALID", `dataFolder ${dataFolder}: ${why}`, { plugin: manifest.name, cause });
  if (!isAbsolute(dataFolder)) throw invalid("it is no absolute path");
  const path = resolve(dataFolder);
  if (path === "/") throw invalid("it is the root of the file system");
  // Before anything is made: it would be made in the plugin.
  if (isWithin(path, root)) throw invalid("it and the plugin's folder lie in one another");
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const folder = join(await realpath(dirname(path)), basename(path));
    if (isWithin(folder, root) || isWithin(root, folder))
      throw invalid("it and the plugin's folder lie in one another");
    const fault = await makeFolder(folder);
    if (fault !== undefined) throw invalid(`it ${fault}`);
    const [above] = await problemsAbove(folder);
    if (above !== undefined) throw invalid(above);
    for (const name of Object.values(dataFolders)) await makeInside(join(folder, name), manifest.name);
    return folder;
  } catch (error) {
    if (error instanceof Error && "syscall" in error) throw invalid(`it cannot be made: ${error.message}`, error);
    throw error;
  }
}

/** Whether a path is another one or lies below it; both without links. */
export function isWithin(path: string, top: string): boolean {
  return path === top || path.startsWith(top === "/" ? "/" : `${top}/`);
}

async function makeInside(path: string, plugin: string): Promise<void> {
  const fault = await makeFolder(path);
  if (fault === undefined) return;
  throw new ProcessPluginError("PLUGIN_NOT_STARTED", `${path}, which the plugin may write, ${fault}`, {
    plugin,
    advice: `look at what the plugin did there, then remove ${path}`,
  });
}

/** `mkdir` follows no link in the last place. */
async function makeFolder(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  const found = await lstat(path);
  return found.isDirectory() ? entryFaults(found, trustedOwners())[0] : "is a link or a file";
}
