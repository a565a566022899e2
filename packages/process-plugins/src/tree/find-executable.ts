import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { nameText } from "./check-folder.js";
import { faultOf } from "./walk-folder.js";

/** The file that a manifest's `process.command` leads to, or why there is none. */
export type ExecutableFinding = { readonly path: string } | { readonly problem: string };

/** @param root Absolute, links resolved. */
export async function findExecutable(root: string, command: string): Promise<ExecutableFinding> {
  const refused = (why: string): ExecutableFinding => ({ problem: `process.command ${nameText(command)} ${why}` });
  try {
    const path = await realpath(join(root, command));
    if (!path.startsWith(`${root === "/" ? "" : root}/`)) return refused("leads out of the folder");
    const found = await stat(path);
    if (!found.isFile()) return refused("is no regular file");
    if ((found.mode & 0o111) === 0) return refused("has no execute bit");
    await access(path, constants.X_OK | constants.R_OK);
    return { path };
  } catch (error) {
    const code = faultOf(error);
    return refused(code === "ENOENT" ? "is missing" : `cannot be executed (${code})`);
  }
}
