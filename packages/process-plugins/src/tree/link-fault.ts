import { readlink, realpath } from "node:fs/promises";
import { faultOf } from "./walk-folder.js";

/**
 * What is wrong with a link of a folder, or undefined. One that goes out of the folder and comes back is found when the folder is
 * measured.
 */
export async function linkFault(path: Uint8Array, root: string): Promise<string | undefined> {
  try {
    const to = await readlink(Buffer.from(path), { encoding: "buffer" });
    if (to[0] === slash) return "is a link with an absolute path: write it relative to its own place";
    const real = await realpath(Buffer.from(path), { encoding: "buffer" });
    const top = Buffer.from(root);
    const isInside = real.equals(top) || (real.subarray(0, top.length).equals(top) && real[top.length] === slash);
    return isInside ? undefined : "is a link that leads out of the folder";
  } catch (error) {
    const code = faultOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return "is a link that leads nowhere";
    return code === "ELOOP" ? "is a link that leads in a circle" : `is a link that cannot be followed (${code})`;
  }
}

const slash = 0x2f;
