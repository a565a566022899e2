import { realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { canonicalDigest } from "../../canonical.js";
import { VenvHostError } from "../../errors.js";
import type { Plan } from "../environment-parts.js";
import type { EnvironmentEvidence, InstalledDistribution } from "../evidence.js";
import { checkDistributions } from "../health/check-environment.js";
import { readDistributions } from "../health/distributions.js";
import { type ReadyMarker, writeMarker } from "../health/ready-marker.js";
import { syncFolder } from "../small-file.js";
import { systemCode } from "../system-fault.js";
import { boundBuild } from "./build-bounds.js";
import { compileModules } from "./compile-modules.js";
import { type InstallOutcome, type InstallTask, install } from "./install.js";
import { relocate, sitePackagesOf } from "./relocate.js";
import { findBuiltByUrl } from "./source-distributions.js";

/** One build. */
export interface BuildTask extends InstallTask {
  /** Of its own, empty; the caller removes it. */
  readonly folder: string;
  /** Where the environment will live. */
  readonly target: string;
}

/** Makes an environment aside, whole and with its mark; gives its folder. Rejects with `VENV_BUILD_FAILED`. */
export async function buildEnvironment(task: BuildTask): Promise<string> {
  const { plan, terms, folder, target } = task;
  const started = terms.scheduler.now();
  const bounds = boundBuild(folder, terms, terms.scheduler, task.signal);
  try {
    const environment = join(folder, "venv");
    const installed = await install({ ...task, signal: bounds.signal }, environment);
    bounds.signal.throwIfAborted();
    const sitePackages = sitePackagesOf(plan.interpreter.version);
    await refuseLinks([environment, join(environment, "bin"), join(environment, sitePackages)]);
    const leftMs = terms.buildTimeoutMs - (terms.scheduler.now() - started);
    await compileInstalled({ ...task, signal: bounds.signal }, { environment, sitePackages }, installed, leftMs);
    task.onStep("checking what was installed");
    await relocate(environment, target, sitePackages);
    const evidence = await evidenceOf(task, installed, join(environment, sitePackages));
    const why = await checkDistributions(environment, { evidence, sitePackages }, bounds.signal);
    if (why !== undefined)
      throw new VenvHostError("VENV_BUILD_FAILED", `what was installed is not whole: ${why}`, { step: "check" });
    await markReady(environment, {
      path: target,
      subject: plan.subject,
      parts: plan.key.parts,
      evidence,
      sitePackages,
      bytes: await bounds.checkSize(environment),
      builtAt: terms.now(),
      durationMs: Math.round(terms.scheduler.now() - started),
    });
    bounds.signal.throwIfAborted();
    return environment;
  } catch (error) {
    throw bounds.signal.aborted ? bounds.signal.reason : buildFault(error);
  } finally {
    bounds.release();
  }
}

const maxCompileMs = 300_000;

/** In at most half of the time that is left: a build does not fail for want of it. */
async function compileInstalled(
  { plan, terms, target, signal, onStep }: BuildTask,
  place: { readonly environment: string; readonly sitePackages: string },
  { confinedBy }: InstallOutcome,
  leftMs: number,
): Promise<void> {
  if (plan.installer === undefined) return; // nothing was installed
  const maxMs = Math.min(maxCompileMs, leftMs / 2);
  const { interpreter } = plan;
  const { maxOutputBytes } = terms;
  await compileModules({ ...place, target, interpreter, confinedBy, maxMs, maxOutputBytes, signal, onStep });
}

/** What a link leads to would not move with the environment, and could be anywhere. */
async function refuseLinks(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    if ((await realpath(folder)) === folder) continue;
    const message = `the installer left a link where ${basename(folder)} of the environment should be`;
    throw new VenvHostError("VENV_BUILD_FAILED", message, { step: "check" });
  }
}

/** The mark comes last, and is on the disk before the folder gets its name. */
async function markReady(environment: string, marker: ReadyMarker): Promise<void> {
  await writeMarker(environment, marker);
  await syncFolder(environment);
}

/** Of the disk or of this process, whatever they met. */
const faultsOfTheStore = ["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE", "ENOMEM"];

/** All others tell of what was installed, which may be anything: a file that ours should be, a name of any length. */
function buildFault(error: unknown): unknown {
  const code = systemCode(error);
  if (code === undefined || faultsOfTheStore.includes(code)) return error;
  const message = `the installer left no whole environment: ${code}`;
  return new VenvHostError("VENV_BUILD_FAILED", message, { step: "check", cause: error });
}

async function evidenceOf(
  { plan, terms }: BuildTask,
  { confinement, builtFromSource }: InstallOutcome,
  sitePackages: string,
): Promise<EnvironmentEvidence> {
  const found = await readDistributions(sitePackages);
  const byUrl = await findBuiltByUrl(sitePackages, found);
  if (byUrl !== undefined && terms.onlyWheels) {
    const message = `${byUrl} was built from the source that a wheel names by its URL, and only wheels are allowed`;
    throw new VenvHostError("VENV_BUILD_FAILED", message, { step: "check", cure: "install with uv, which refuses it" });
  }
  return toldEvidence(plan, found, { confinement, builtFromSource: builtFromSource || byUrl !== undefined });
}

function toldEvidence(
  plan: Plan,
  found: readonly InstalledDistribution[],
  outcome: Omit<InstallOutcome, "confinedBy">,
): EnvironmentEvidence {
  const { path, version, sha256 } = plan.interpreter;
  const evidence = {
    key: plan.key.digest,
    interpreter: { path, version, sha256 },
    installer: plan.installer?.version ?? "none",
    ...outcome,
    distributions: found.map((each) => ({ name: each.name, version: each.version, recordSha256: each.recordSha256 })),
  };
  return { digest: canonicalDigest(evidence), ...evidence };
}
