import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { VenvHostError } from "../errors.js";

/** Where a host's plugins are, without links: as a worker sees them. */
export interface PluginPaths {
  readonly cwd: string;
  /** `<cwd>/plugins`. */
  readonly plugins: string;
}

/**
 * A worker loads plugins from below its working folder and compares texts: a folder beside it with a longer name would pass
 * there, and a link out of it would fail each call. So it is looked at here, by segments.
 * @throws {VenvHostError} `WORKER_START_FAILED`.
 */
export async function findPluginPaths(cwd: string): Promise<PluginPaths> {
  const folder = await followed(cwd);
  const plugins = await followed(join(folder, "plugins"));
  if (isInside(folder, plugins)) return { cwd: folder, plugins };
  const message = `${join(folder, "plugins")} leads to ${plugins}, out of ${folder}: a worker loads no plugin from there`;
  throw new VenvHostError("WORKER_START_FAILED", message, { step: "start" });
}

async function followed(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const message = `there is no folder ${path}: plugins are found in <cwd>/plugins`;
    throw new VenvHostError("WORKER_START_FAILED", message, { cause: error, step: "start" });
  }
}

/** Whether a path is below a folder, segment by segment; both absolute and without links. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && !isAbsolute(way) && way !== ".." && !way.startsWith(`..${sep}`);
}

/** The folder of a plugin's package: that of the first segment of its class name. */
export function classRootFolder(plugins: string, className: string): string {
  return join(plugins, className.slice(0, className.indexOf(".")));
}
