import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder of its own, removed after the test by `rm`, which is not deterred by any depth. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-disk-"));
  onTestFinished(() => void spawnSync("rm", ["-rf", folder]));
  return folder;
}

/** Has Python make a tree: names as bytes and depths that paths cannot say. */
export function plant(folder: string, program: string): void {
  const { status, stderr } = spawnSync("python3", ["-c", `import os\n${program}`], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}
