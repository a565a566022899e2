import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { tryRead } from "../process-identity.js";

/** In which process-confinement puts the groups of sandboxes, each under its name. */
const groupsFolder = "berth";

/**
 * Control groups of a sandbox of this name, wherever they are: the host that made them may have lived in other groups than
 * ours. Looks through every tree that is mounted.
 */
export async function findGroups(name: string): Promise<readonly string[]> {
  const found = await Promise.all(mountedTrees().map((tree) => findBelow(tree, name)));
  return [...new Set(found.flat())];
}

/** `36 35 98:0 /root /mount/point options optional… - type source super,options` (proc(5)). */
function mountedTrees(): readonly string[] {
  const lines = (tryRead("/proc/self/mountinfo") ?? "").split("\n").filter((line) => / - cgroup2? /.test(line));
  return lines.flatMap((line) => line.split(" ")[4] ?? []);
}

async function findBelow(group: string, name: string): Promise<readonly string[]> {
  const entries = await readdir(group, { withFileTypes: true }).catch(() => []); // removed meanwhile
  const below = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  if (basename(group) === groupsFolder) return below.includes(name) ? [join(group, name)] : [];
  return (await Promise.all(below.map((entry) => findBelow(join(group, entry), name)))).flat();
}
