import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { AppError } from "../errors.js";
import { isProcess, type ProcessesSource, readProcesses } from "./open-processes.js";

/**
 * Looks at where plugins and state lie, before anything is made: a state folder inside a plugin's folder would change the plugin.
 * @param state The state folder, which need not be there.
 * @throws {AppError} `CONFIG_INVALID` with every fault of every entry, and each folder that is not there; `STATE_UNUSABLE`.
 */
export async function checkPlaces(source: ProcessesSource, state: string): Promise<void> {
  const plugins = readProcesses(source);
  const own = await realPlace(resolve(state));
  const faults: string[] = [];
  for (const [at, entry] of source.config.plugins.filter(isProcess).entries()) {
    const folder = plugins[at]?.folder;
    if (folder === undefined) continue;
    if (!(await isFolder(folder))) {
      const line = entry.line === undefined ? "" : `line ${entry.line}: `;
      faults.push(`${line}plugin ${entry.name}: dir: there is no folder ${folder}`);
    } else if (isWithin(own, await realPlace(folder))) {
      const message = `the state folder ${own} lies in the folder of plugin ${entry.name}, which it would change`;
      throw new AppError("STATE_UNUSABLE", message, { lines: ["give another --state"] });
    }
  }
  if (faults.length > 0)
    throw new AppError("CONFIG_INVALID", "the plugins cannot be run as they are configured", { lines: faults });
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    // What is there and cannot be looked at is told by who measures it.
    return !(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"));
  }
}

/** The path without links, of which only the beginning need be there. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path); // what is wrong with it is told by who opens it
    return above === path ? path : join(await realPlace(above), basename(path));
  }
}

function isWithin(path: string, top: string): boolean {
  return path === top || path.startsWith(top === "/" ? "/" : `${top}/`);
}
