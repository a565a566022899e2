import { lstat, stat } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "../environments/system-fault.js";
import type { InstalledEnvironment, InstalledEnvironmentOptions, InstalledVerdict } from "./installed-environment.js";
import { fileDigest, type InstalledFiles, installedFiles } from "./installed-files.js";
import { whyNotUsable } from "./installed-health.js";
import { type ExpectedMetadata, judgeMetadata, readMetadata } from "./installed-metadata.js";

/**
 * Looks whether a plugin's own folder has an environment that may be used as it is (CPEX fact sheet § 5.3), and
 * whether what Python loads of it is there. Changes nothing.
 * The metadata of the class goes before that of the whole environment, which the Python command line writes: a host that
 * knows one of the two only would build what the other made anew, each time.
 * @throws {VenvHostError} `OPTION_INVALID`. Else the system's error, for what is there and may not be read.
 */
export async function findInstalledEnvironment(options: InstalledEnvironmentOptions): Promise<InstalledEnvironment> {
  const files = installedFiles(options);
  const path = files.environment;
  // Through the link: an environment whose interpreter is gone is none.
  const python = await unlessMissing(stat(join(path, "bin", "python")));
  if (python === undefined || !python.isFile()) return { path, verdict: "venv missing", metadata: undefined };
  const expected = await expectedMetadata(files, options.version);
  const judged = await judge(files, expected);
  if (judged.verdict !== "valid") return judged;
  const why = await whyNotUsable(path, options.scriptPath);
  return why === undefined ? judged : { ...judged, verdict: "files missing", why };
}

async function judge(files: InstalledFiles, expected: ExpectedMetadata): Promise<InstalledEnvironment> {
  const path = files.environment;
  const ofClass = await verdictOf(files.classMetadata, expected);
  if (ofClass !== "metadata missing") return { path, verdict: ofClass, metadata: files.classMetadata };
  const shared = await verdictOf(files.sharedMetadata, expected);
  return { path, verdict: shared, metadata: shared === "metadata missing" ? undefined : files.sharedMetadata };
}

async function verdictOf(path: string, expected: ExpectedMetadata): Promise<InstalledVerdict> {
  const noted = await readMetadata(path);
  if (noted === "missing") return "metadata missing";
  return noted === "unreadable" ? "metadata unreadable" : judgeMetadata(noted, expected);
}

/** What metadata would say if it was written now. */
export async function expectedMetadata(files: InstalledFiles, version: string | undefined): Promise<ExpectedMetadata> {
  return {
    requirementsHash: await fileDigest(files.requirements),
    manifestVersion: version,
    manifestHash: await fileDigest(files.manifest),
  };
}

/** Where requirements are, as metadata says it: null when there is no such file. */
export async function requirementsOnDisk({ requirements }: InstalledFiles): Promise<string | null> {
  if (requirements === undefined) return null;
  return (await unlessMissing(lstat(requirements))) === undefined ? null : requirements;
}
