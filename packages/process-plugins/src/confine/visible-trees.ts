import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, isAbsolute, resolve } from "node:path";
import { findInterpreter } from "@berth/process-confinement";
import { ProcessPluginError } from "../errors.js";
import type { InspectedPlugin } from "../tree/inspected-plugin.js";
import { confinementRefusal } from "./confinement-refusal.js";
import { isWithin } from "./data-folder.js";
import type { PluginProcessOptions } from "./plugin-process.js";

/** What every sandbox sees of the machine. */
const systemTrees = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/**
 * The folders and files beside the system's that a plugin sees, read-only and each at its own path: its own folder, and what the
 * operator named. None lies in another.
 * @throws {ProcessPluginError} `OPTION_INVALID`.
 */
export function visibleTrees({
  plugin,
  interpreters = [],
  readOnly = [],
}: Pick<PluginProcessOptions, "plugin" | "interpreters" | "readOnly">): readonly string[] {
  const named = [
    ...interpreters.flatMap((path) => interpreterTrees(absolutePath("interpreters", path), plugin.manifest.name)),
    ...readOnly.map((path) => absolutePath("readOnly", path)),
  ];
  const trees = [...new Set([plugin.root, ...named])].filter((tree) => !isSystem(tree));
  return trees.filter((tree) => !trees.some((other) => other !== tree && isWithin(tree, other)));
}

/**
 * What the operator named has to be there: said by the option that named it, and not by where a sandbox would show it.
 * @throws {ProcessPluginError} `OPTION_INVALID`.
 */
export function refuseAbsentTrees({
  interpreters = [],
  readOnly = [],
}: Pick<PluginProcessOptions, "interpreters" | "readOnly">): void {
  for (const [option, paths] of Object.entries({ interpreters, readOnly })) {
    const absent = paths.find((path) => isAbsolute(path) && !existsSync(path));
    if (absent !== undefined) throw new ProcessPluginError("OPTION_INVALID", `${option}: ${absent} is not there`);
  }
}

/**
 * What the plugin's `#!` line names must be there inside: whatever it names, a plugin cannot choose what it sees of the machine.
 * @throws {ProcessPluginError} `PLUGIN_NOT_STARTED`.
 */
export function refuseHiddenInterpreter(
  { interpreter, manifest }: Pick<InspectedPlugin, "interpreter" | "manifest">,
  trees: readonly string[],
): void {
  if (interpreter === undefined) return;
  const isVisible = (path: string): boolean => isSystem(path) || trees.some((tree) => isWithin(path, tree));
  // Behind a link of the system's, such as /usr/local/bin/node, there may be a file that is not there inside.
  if (isVisible(interpreter) && isVisible(realOf(interpreter))) return;
  throw new ProcessPluginError("PLUGIN_NOT_STARTED", `its #! line leads to ${interpreter}, which it does not see`, {
    plugin: manifest.name,
    advice: `if the plugin may have it, name ${interpreter} in interpreters; else use an interpreter in /usr`,
  });
}

/**
 * A folder is itself; of a Python its whole tree, of a virtual environment its base's too; of anything else the file alone, since
 * nothing says what belongs to it, and what it is a link to.
 */
function interpreterTrees(path: string, plugin: string): readonly string[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder) return [path];
  if (!/^(?:python|pypy)[\d.]*t?$/.test(basename(path))) return [path, realOf(path)];
  try {
    return findInterpreter(path).trees;
  } catch (error) {
    throw confinementRefusal(error, plugin);
  }
}

function absolutePath(option: string, path: string): string {
  if (isAbsolute(path)) return resolve(path);
  throw new ProcessPluginError("OPTION_INVALID", `${option}: ${path} is no absolute path`);
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // it is not there: said when it is to be bound
  }
}

function isSystem(path: string): boolean {
  return systemTrees.some((tree) => isWithin(path, tree));
}
