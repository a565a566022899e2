import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { VenvHostError } from "../errors.js";
import type { PluginEnvironment } from "./isolated-venv-options.js";

/**
 * The worker's file (CPEX fact sheet § 1): an absolute path as it is, else in the environment's site-packages, wherever
 * those are, else directly in the environment.
 * @throws {VenvHostError} `WORKER_START_FAILED` naming the environment and the likely cause.
 */
export async function findWorker(environment: PluginEnvironment, scriptPath: string): Promise<string> {
  const candidates = isAbsolute(scriptPath) ? [scriptPath] : await candidatesIn(environment, scriptPath);
  for (const path of candidates) if (await isFile(path)) return path;
  const message = `the environment ${environment.path} has no ${scriptPath}`;
  const cure = "Most likely its requirements do not name cpex: a plugin brings its worker along as a dependency.";
  throw new VenvHostError("WORKER_START_FAILED", `${message}. ${cure}`, { step: "start", cure });
}

async function candidatesIn({ path, sitePackages }: PluginEnvironment, scriptPath: string): Promise<readonly string[]> {
  const versions = await namesIn(join(path, "lib"));
  const folders = [
    ...(sitePackages === undefined ? [] : [sitePackages]),
    ...versions.map((name) => join(path, "lib", name, "site-packages")),
    join(path, "Lib", "site-packages"),
    path,
  ];
  return folders.map((folder) => join(folder, scriptPath));
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch {
    return []; // no such folder: on Windows, or in an environment that is none
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false; // what cannot be looked at cannot be run
  }
}
