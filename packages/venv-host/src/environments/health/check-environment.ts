import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { isVenvHostError } from "../../errors.js";
import { askProgram } from "../ask-program.js";
import { readSmallFile } from "../small-file.js";
import { isRefusal, systemCode, unlessMissing } from "../system-fault.js";
import { checkFiles } from "./check-files.js";
import { readDistributions } from "./distributions.js";
import { type ReadyMarker, readMarker } from "./ready-marker.js";

/** What a look at an environment's folder found. */
export type Health =
  | { readonly state: "missing" }
  | { readonly state: "broken"; readonly why: string; readonly marker: ReadyMarker | undefined }
  | { readonly state: "whole"; readonly marker: ReadyMarker };

const askLimits = { timeoutMs: 60_000, maxBytes: 4_096 } as const;
const question = 'import sys; sys.stdout.write("%d.%d.%d" % sys.version_info[:3])';
const maxConfigBytes = 65_536;

/** Looks whether an environment is whole: all that can be seen without starting it, then whether its interpreter runs. */
export async function checkEnvironment(path: string, key: string, signal: AbortSignal | undefined): Promise<Health> {
  const stats = await unlessMissing(lstat(path));
  if (stats === undefined) return { state: "missing" };
  if (!stats.isDirectory()) return { state: "broken", why: "it is no folder", marker: undefined };
  try {
    return await lookInto(path, key, signal);
  } catch (error) {
    // Its own programs can do that to it. Where the store is the fault, building anew fails with its own.
    const why = isRefusal(error) ? "it cannot be looked into" : isVenvHostError(error) ? error.message : undefined;
    if (why === undefined) throw error;
    return { state: "broken", why, marker: undefined };
  }
}

async function lookInto(path: string, key: string, signal: AbortSignal | undefined): Promise<Health> {
  const marker = await readMarker(path);
  if (marker === undefined) return { state: "broken", why: "it has no mark that it was finished", marker };
  const why = (await checkStill(path, key, marker, signal)) ?? (await checkRuns(path, marker, signal));
  return why === undefined ? { state: "whole", marker } : { state: "broken", why, marker };
}

/** As `checkEnvironment`, and starts nothing. */
export async function checkStill(
  path: string,
  key: string,
  marker: ReadyMarker,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (marker.evidence.key !== key) return "it was made from something else than its name says";
  if (marker.path !== path) return `the store moved from where it made it, ${marker.path}`;
  return (await checkVersion(path, marker)) ?? (await checkDistributions(path, marker, signal));
}

async function checkVersion(path: string, { evidence }: ReadyMarker): Promise<string | undefined> {
  const text = (await unlessMissing(readSmallFile(join(path, "pyvenv.cfg"), maxConfigBytes)))?.toString("utf8");
  const version = /^version(?:_info)?\s*=\s*(\d+\.\d+\.\d+)/m.exec(text ?? "")?.[1];
  if (version === undefined) return "its pyvenv.cfg is missing or says no version";
  const { version: made } = evidence.interpreter;
  return version === made ? undefined : `its pyvenv.cfg says Python ${version} and it was made with ${made}`;
}

/** Also for what was just built, before it has its mark. */
export async function checkDistributions(
  path: string,
  marker: Pick<ReadyMarker, "evidence" | "sitePackages">,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const sitePackages = join(path, marker.sitePackages);
  const found = await unlessMissing(readDistributions(sitePackages));
  if (found === undefined) return "its site-packages folder is missing";
  const expected = new Map(marker.evidence.distributions.map((each) => [`${each.name} ${each.version}`, each]));
  for (const { name, version, recordSha256 } of found) {
    const made = expected.get(`${name} ${version}`);
    if (made === undefined) return `${name} ${version} was installed into it afterwards`;
    if (made.recordSha256 !== recordSha256) return `the record of ${name} ${version} is not the one of the build`;
    expected.delete(`${name} ${version}`);
  }
  const [gone] = expected.keys();
  return gone === undefined ? checkFiles(path, sitePackages, found, signal) : `${gone} is no longer in it`;
}

async function checkRuns(
  path: string,
  marker: ReadyMarker,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { version } = marker.evidence.interpreter;
  const python = join(path, "bin", "python");
  try {
    const answer = await askProgram([python, "-I", "-S", "-c", question], { ...askLimits, env: {}, signal });
    if (answer.stopped !== undefined) return `its interpreter does not answer: ${answer.stopped}`;
    if (answer.code !== 0) return `its interpreter does not run: exit code ${answer.code}`;
    return answer.stdout === version
      ? undefined
      : `the interpreter went from ${version} to ${answer.stdout.slice(0, 20)}`;
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    return code === "ENOENT" ? "its interpreter is gone" : `its interpreter does not run: ${code}`;
  }
}
