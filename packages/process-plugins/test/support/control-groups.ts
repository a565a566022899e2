import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { selfTest } from "@berth/process-confinement";

/** Where this machine can bound memory there is a control group for each instance. */
export async function memoryLimit(): Promise<{ memoryBytes?: number }> {
  try {
    await selfTest({ limits: ["memoryBytes"] });
    return { memoryBytes: 64 * 1024 ** 2 };
  } catch {
    return {};
  }
}

/** The control groups of this machine whose name begins so, as paths. */
export function controlGroups(prefix: string, folder = "/sys/fs/cgroup", depth = 0): readonly string[] {
  if (depth > 6) return [];
  return foldersIn(folder).flatMap((name) => [
    ...(name.startsWith(prefix) ? [join(folder, name)] : []),
    ...controlGroups(prefix, join(folder, name), depth + 1),
  ]);
}

/** Whether any process is in one of these. */
export function arePopulated(groups: readonly string[]): boolean {
  return groups.some((path) => readOr(join(path, "cgroup.procs")) !== "");
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return []; // it was removed meanwhile
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // it was removed meanwhile
  }
}
