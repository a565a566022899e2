import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const removeTimeoutMs = 120_000;

/**
 * Removes a folder that a plugin may have written: also one whose folders may not be entered, or are nested deeper than a path can
 * name, which Node cannot remove and `rm` can.
 */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    // An absolute path begins with no dash. chmod -R follows no links that it meets.
    await run("chmod", ["-R", "u+rwX", path], { timeout: removeTimeoutMs }).catch(() => undefined); // rm tells what is left
    await run("rm", ["-rf", path], { timeout: removeTimeoutMs });
  }
}
