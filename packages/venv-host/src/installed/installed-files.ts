import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { sha256 } from "../canonical.js";
import { readSmallFile } from "../environments/small-file.js";
import { unlessMissing } from "../environments/system-fault.js";
import { VenvHostError } from "../errors.js";
import { classRoot, classStem } from "./class-stem.js";
import type { InstalledEnvironmentOptions } from "./installed-environment.js";

/** Where the things of an installed plugin lie (CPEX fact sheet § 5.1). */
export interface InstalledFiles {
  readonly environment: string;
  readonly cache: string;
  /** Of this class; written by the Rust host. */
  readonly classMetadata: string;
  /** Of the whole environment; written by the Python command line. */
  readonly sharedMetadata: string;
  readonly owners: string;
  readonly requirements: string | undefined;
  readonly manifest: string;
}

const maxFileBytes = 16_777_216;

/** Throws `OPTION_INVALID`. */
export function installedFiles(options: InstalledEnvironmentOptions): InstalledFiles {
  const { pluginsFolder, className, requirementsFile } = options;
  const root = classRoot(className);
  if (root === undefined || !isAbsolute(pluginsFolder)) {
    const message =
      "an installed plugin needs an absolute pluginsFolder and a className that begins with a module's name";
    throw new VenvHostError("OPTION_INVALID", message);
  }
  const home = join(pluginsFolder, root);
  const cache = join(home, ".cpex", "venv_cache");
  const stem = classStem(className);
  const requirements =
    requirementsFile === undefined || isAbsolute(requirementsFile) ? requirementsFile : join(home, requirementsFile);
  return {
    environment: join(home, ".venv"),
    cache,
    classMetadata: join(cache, `${stem}_metadata.json`),
    sharedMetadata: join(cache, ".venv_metadata.json"),
    owners: join(cache, "owners.json"),
    requirements,
    manifest: join(home, `${stem}.plugin-manifest.yaml`),
  };
}

/**
 * Hex SHA-256 of a file's bytes; of no bytes when there is no such file (CPEX fact sheet § 5.2). Undefined for one that is
 * too large to be measured: nothing that was noted equals that.
 */
export async function fileDigest(path: string | undefined): Promise<string | undefined> {
  if (path === undefined || (await unlessMissing(stat(path)))?.isFile() !== true) return sha256("");
  const bytes = await unlessMissing(readSmallFile(path, maxFileBytes));
  return bytes === undefined ? undefined : sha256(bytes);
}
