import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder (0700) and those above it, where they are absent; many processes may do so at once. Rejects with the system's
 * error: Node's own way says ENOENT where the file system cannot be written (EROFS).
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    const above = dirname(path);
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isAbsent || above === path) throw error;
    await makeFolder(above);
    await makeOne(path);
  }
}

/** Also where mkdir of what is there fails with EROFS. */
async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const found = await stat(path).catch(() => undefined); // absent: the error says why
    if (found?.isDirectory() !== true) throw error;
  }
}
