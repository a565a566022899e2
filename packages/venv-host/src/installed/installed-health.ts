import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { checkFiles } from "../environments/health/check-files.js";
import { readDistributions } from "../environments/health/distributions.js";
import type { RecordedFile } from "../environments/health/record-file.js";
import { unlessMissing } from "../environments/system-fault.js";
import { isVenvHostError } from "../errors.js";

const defaultScript = "cpex/framework/isolated/worker.py";

/**
 * Why an environment that another host installed cannot work, whatever was noted of it; undefined when nothing is seen. Looks
 * for what Python loads only: whoever keeps environments small removes tests, and may change what is his.
 */
export async function whyNotUsable(
  environment: string,
  scriptPath: string = defaultScript,
): Promise<string | undefined> {
  const folders = await sitePackagesOf(environment);
  for (const folder of folders) {
    const why = await whyNotLoaded(environment, folder);
    if (why !== undefined) return why;
  }
  if (isAbsolute(scriptPath)) return undefined;
  for (const folder of [...folders, environment]) {
    if ((await unlessMissing(stat(join(folder, scriptPath))))?.isFile() === true) return undefined;
  }
  return `it has no ${scriptPath}`;
}

async function sitePackagesOf(environment: string): Promise<readonly string[]> {
  const versions = (await unlessMissing(readdir(join(environment, "lib")))) ?? [];
  const folders = versions.sort().map((name) => join(environment, "lib", name, "site-packages"));
  return [...folders, join(environment, "Lib", "site-packages")];
}

async function whyNotLoaded(environment: string, sitePackages: string): Promise<string | undefined> {
  try {
    const found = (await unlessMissing(readDistributions(sitePackages))) ?? [];
    const loaded = found.map((each) => ({
      ...each,
      files: each.files?.filter(({ path }) => isLoaded(path)).map(withoutSize),
    }));
    return await checkFiles(environment, sitePackages, loaded, undefined);
  } catch (error) {
    if (isVenvHostError(error)) return error.message;
    throw error;
  }
}

const withoutSize = (file: RecordedFile): RecordedFile => ({ ...file, size: undefined });

const isLoaded = (path: string): boolean =>
  /\.(py|so)$/.test(path) && !path.startsWith("../") && !/(^|\/)tests?\//.test(path);
