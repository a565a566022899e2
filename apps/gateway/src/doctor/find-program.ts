import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** Where programs started from a desktop usually look: a login shell's additions (nvm, pyenv, Homebrew) are absent. */
export const desktopPath: string = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].join(delimiter);

/** The first executable of this name on a PATH, or undefined. */
export async function findProgram(name: string, path: string | undefined): Promise<string | undefined> {
  for (const folder of (path ?? "").split(delimiter).filter((entry) => entry !== "")) {
    const file = join(folder, name);
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // not here: the next folder may have it
    }
  }
  return undefined;
}
