import { chmod, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Gives its owner the right to list and empty every folder of a tree. Follows no links. */
export async function unlockTree(path: string): Promise<void> {
  const seen = await lstat(path);
  if (!seen.isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path)) await unlockTree(join(path, name));
}
