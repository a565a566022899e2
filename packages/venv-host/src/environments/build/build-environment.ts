import { existsSync } from "node:fs";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { canonicalDigest } from "../../canonical.js";
import type { ConfinePolicy } from "../../confine.js";
import { VenvHostError } from "../../errors.js";
import { credentialsIn } from "../credentials-in-urls.js";
import type { Plan } from "../environment-parts.js";
import type { EnvironmentEvidence } from "../evidence.js";
import { checkDistributions } from "../health/check-environment.js";
import { readDistributions } from "../health/distributions.js";
import { type ReadyMarker, writeMarker } from "../health/ready-marker.js";
import { fileUrlPath } from "../requirements/local-file.js";
import { directUrlOf } from "../requirements/requirement-line.js";
import { syncFolder } from "../small-file.js";
import type { StoreTerms } from "../store-terms.js";
import { systemCode } from "../system-fault.js";
import { boundBuild } from "./build-bounds.js";
import { createArgv, installArgv } from "./installer-argv.js";
import { relocate, sitePackagesOf } from "./relocate.js";
import { runStep } from "./run-step.js";

/** One build. */
export interface BuildTask {
  readonly plan: Plan;
  readonly terms: StoreTerms;
  /** A folder of its own, empty, which the caller removes. */
  readonly folder: string;
  /** Where the environment will live. */
  readonly target: string;
  readonly signal: AbortSignal;
  readonly onStep: (step: string) => void;
}

/** Makes an environment aside, whole and with its mark; gives its folder. Rejects with `VENV_BUILD_FAILED`. */
export async function buildEnvironment(task: BuildTask): Promise<string> {
  const { plan, terms, folder, target } = task;
  const started = terms.scheduler.now();
  const bounds = boundBuild(folder, terms, terms.scheduler, task.signal);
  try {
    const environment = join(folder, "venv");
    const confinement = await install({ ...task, signal: bounds.signal }, environment);
    bounds.signal.throwIfAborted();
    task.onStep("checking what was installed");
    const sitePackages = sitePackagesOf(plan.interpreter.version);
    await refuseLinks([environment, join(environment, "bin"), join(environment, sitePackages)]);
    await relocate(environment, target, sitePackages);
    const evidence = await evidenceOf(plan, confinement, join(environment, sitePackages));
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

async function install(task: BuildTask, environment: string): Promise<string> {
  const { plan, terms, folder, signal } = task;
  const { installer, requirements } = plan;
  const env = await ownFolders(task);
  const policy = policyOf(task, environment);
  const secrets = [...Object.values(env), ...requirements.lines].flatMap(credentialsIn);
  const run = (step: string, argv: readonly string[]): Promise<string> =>
    runStep({ step, argv, env, policy, maxOutputBytes: terms.maxOutputBytes, secrets }, terms.confine, signal);
  task.onStep("creating the environment");
  const confinement = await run("create", createArgv(installer, plan.interpreter.path, environment));
  if (installer === undefined) return confinement;
  const file = join(folder, "requirements.txt");
  const constraints = requirements.constraints.length === 0 ? undefined : join(folder, "constraints.txt");
  await writeFile(file, linesText(requirements.lines), { flag: "wx", mode: 0o600 });
  if (constraints !== undefined)
    await writeFile(constraints, linesText(requirements.constraints), { flag: "wx", mode: 0o600 });
  task.onStep(`installing with ${installer.version}`);
  const { index, requireHashes } = terms;
  return run("install", installArgv(installer, { environment, requirements: file, constraints, index, requireHashes }));
}

const linesText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** Whatever an installer keeps for itself lies in the build's own folder, and goes with it. */
async function ownFolders({ plan, folder, terms }: BuildTask): Promise<Record<string, string>> {
  const [home, temporary] = [join(folder, "home"), join(folder, "tmp")];
  await mkdir(home, { mode: 0o700 });
  await mkdir(temporary, { mode: 0o700 });
  // Build back-ends look for a compiler here.
  const standard = { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", HOME: home };
  return { ...standard, ...plan.env, ...terms.env, TMPDIR: temporary, PYTHONDONTWRITEBYTECODE: "1" };
}

function policyOf({ plan, folder, terms }: BuildTask, environment: string): ConfinePolicy {
  const { interpreter, installer } = plan;
  const program = installer?.kind === "uv" ? installer.argv.slice(0, 1) : [];
  const settings = terms.index.from === "default" ? ["pip", "uv"].map((name) => join(homedir(), ".config", name)) : [];
  const wheels = terms.index.from === "wheels" ? terms.index.folders : [];
  const local = plan.requirements.lines.flatMap((line) => localFolderOf(line.split(" --")[0] ?? ""));
  const readable = [interpreter.prefix, dirname(interpreter.path), ...program, ...wheels, ...local, ...settings];
  return {
    name: `install ${environment}`,
    readable: [...new Set(readable)].filter((path) => existsSync(path)),
    writable: [folder],
    network: terms.index.from === "wheels" || installer === undefined ? "none" : "host",
    cwd: folder,
  };
}

/** The folder of a requirement that is a file, as read-requirements.ts writes it. */
function localFolderOf(requirement: string): readonly string[] {
  if (requirement.startsWith("/")) return [dirname(requirement)];
  const url = directUrlOf(requirement);
  const path = url !== undefined && /^file:/i.test(url) ? fileUrlPath(url) : undefined;
  return path === undefined ? [] : [dirname(path)];
}

async function evidenceOf(plan: Plan, confinement: string, sitePackages: string): Promise<EnvironmentEvidence> {
  const { path, version, sha256 } = plan.interpreter;
  const found = await readDistributions(sitePackages);
  const evidence = {
    key: plan.key.digest,
    interpreter: { path, version, sha256 },
    installer: plan.installer?.version ?? "none",
    confinement,
    distributions: found.map((each) => ({ name: each.name, version: each.version, recordSha256: each.recordSha256 })),
  };
  return { digest: canonicalDigest(evidence), ...evidence };
}
