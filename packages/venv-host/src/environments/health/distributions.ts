import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../../canonical.js";
import { VenvHostError } from "../../errors.js";
import type { InstalledDistribution } from "../evidence.js";
import { normalName } from "../requirements/requirement-line.js";
import { readSmallFile } from "../small-file.js";
import { unlessMissing } from "../system-fault.js";
import { type RecordedFile, readRecord } from "./record-file.js";

/** A distribution, with the folder that describes it and the files that it says are its own. */
export interface FoundDistribution extends InstalledDistribution {
  /** Name of its `.dist-info` folder. */
  readonly folder: string;
  /** Undefined: no RECORD, or none that can be read. */
  readonly files: readonly RecordedFile[] | undefined;
}

const maxRecordBytes = 33_554_432;
const maxDistributions = 5_000;

/**
 * Reads what is installed, in order of the names. Throws the system's errors.
 * @throws {VenvHostError} `VENV_BUILD_FAILED` for too many distributions, or too many files of one.
 */
export async function readDistributions(sitePackages: string): Promise<readonly FoundDistribution[]> {
  const names = await readdir(sitePackages);
  const folders = names.filter((name) => /\.(dist|egg)-info$/.test(name));
  if (folders.length > maxDistributions) {
    throw new VenvHostError("VENV_BUILD_FAILED", `it has more than ${maxDistributions} distributions`, {
      step: "check",
    });
  }
  const found: FoundDistribution[] = [];
  for (const folder of folders.sort()) found.push(await readDistribution(sitePackages, folder));
  return found.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
}

async function readDistribution(sitePackages: string, folder: string): Promise<FoundDistribution> {
  // `name-version.dist-info`, the name with underscores (Recording installed projects, § The .dist-info directory).
  const [name = "", version = ""] = folder.replace(/\.(dist|egg)-info$/, "").split(/-(.*)/s);
  const bytes = await unlessMissing(readSmallFile(join(sitePackages, folder, "RECORD"), maxRecordBytes));
  const text = bytes?.toString("utf8");
  return {
    name: normalName(name),
    version,
    folder,
    recordSha256: bytes === undefined ? undefined : sha256(bytes),
    files: text === undefined ? undefined : readRecord(text),
  };
}
