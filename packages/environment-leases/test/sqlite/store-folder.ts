import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder for one test, 0700, removed after it; the path is that of a store in it, which is not made. */
export function storePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-leases-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "leases.db");
}
