import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Confine, ConfinePolicy } from "../../confine.js";
import { VenvHostError } from "../../errors.js";
import { credentialsIn } from "../credentials-in-urls.js";
import type { Plan } from "../environment-parts.js";
import type { Installer } from "../installer.js";
import { removeTree } from "../remove-tree.js";
import { fileUrlPath } from "../requirements/local-file.js";
import { directUrlOf } from "../requirements/requirement-line.js";
import type { StoreTerms } from "../store-terms.js";
import { createArgv, installArgv } from "./installer-argv.js";
import { type BuildStep, runStep } from "./run-step.js";
import { findWheelless, type SourcesAllowed, sourcesAskedFor } from "./source-distributions.js";

/** What is installed, and where. */
export interface InstallTask {
  readonly plan: Plan;
  readonly terms: StoreTerms;
  /** Of this one build. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly onStep: (step: string) => void;
}

/** How it came there. */
export interface InstallOutcome {
  readonly confinement: string;
  readonly builtFromSource: boolean;
  /** What confines all else that is run for this build. */
  readonly confinedBy: Confine | undefined;
}

type Common = Pick<BuildStep, "env" | "policy" | "maxOutputBytes" | "secrets">;

/** Makes an environment at `environment` and installs into it. Rejects with `VENV_BUILD_FAILED`, or the signal's reason. */
export async function install(task: InstallTask, environment: string): Promise<InstallOutcome> {
  const { plan, terms, folder } = task;
  const { installer, requirements } = plan;
  const env = await ownFolders(task);
  const secrets = [...Object.values(env), ...requirements.lines].flatMap(credentialsIn);
  const common: Common = { env, policy: policyOf(task, environment), maxOutputBytes: terms.maxOutputBytes, secrets };
  task.onStep("creating the environment");
  const held = await create(task, common, environment);
  const outcome = { confinement: held.confinement, confinedBy: held.by };
  if (installer === undefined) return { ...outcome, builtFromSource: false };
  const file = join(folder, "requirements.txt");
  const constraints = requirements.constraints.length === 0 ? undefined : join(folder, "constraints.txt");
  await writeFile(file, linesText(requirements.lines), { flag: "wx", mode: 0o600 });
  if (constraints !== undefined)
    await writeFile(constraints, linesText(requirements.constraints), { flag: "wx", mode: 0o600 });
  const { index, requireHashes } = terms;
  const target = { environment, requirements: file, constraints, index, requireHashes };
  const run: Run = (sources, onOutput) => {
    const argv = installArgv(installer, { ...target, sources });
    return runStep({ ...common, step: "install", argv, onOutput }, held.by, task.signal);
  };
  return { ...outcome, builtFromSource: await installWheelsFirst(task, installer, held, run) };
}

const linesText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** What confines a build, and its name. */
interface Held {
  readonly by: Confine | undefined;
  readonly confinement: string;
}

/**
 * Makes the empty environment. That runs no code of what is installed, so it is also where it is found out whether
 * confinement holds: nothing that an install brings along can make it seem that it does not.
 */
async function create(task: InstallTask, common: Common, environment: string): Promise<Held> {
  const { plan, terms, signal } = task;
  const step = { ...common, step: "create", argv: createArgv(plan.installer, plan.interpreter.path, environment) };
  try {
    return { by: terms.confine, confinement: await runStep(step, terms.confine, signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (terms.confine === undefined || terms.ifNotConfined === "refuse") throw error;
    await removeTree(environment);
    // What keeps it from being made at all is no matter of confinement, and is told as what it is.
    const confinement = await runStep(step, undefined, signal);
    task.onStep(`WARNING: installing without confinement, which does not hold here: ${causeOf(error)}`);
    return { by: undefined, confinement };
  }
}

function causeOf(error: unknown): string {
  const said = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return said instanceof Error ? said.message : String(said);
}

type Run = (sources: SourcesAllowed, onOutput: (output: string) => void) => Promise<string>;

const maxNames = 100;

/** One run where all have wheels; else each that has none is named and allowed. Gives whether any was. */
async function installWheelsFirst(task: InstallTask, installer: Installer, held: Held, run: Run): Promise<boolean> {
  const { plan, terms, signal, onStep } = task;
  let sources = sourcesAskedFor(plan.requirements.lines);
  if (isSome(sources)) {
    if (terms.onlyWheels) throw notAllowed(`the requirements ask for ${listed(sources)} to be built from source`);
    onStep(`building ${listed(sources)} from source, as the requirements say: ${whose(held)}`);
  }
  onStep(`installing with ${installer.version}`);
  for (;;) {
    let output = "";
    try {
      await run(sources, (said) => {
        output = said;
      });
      return isSome(sources);
    } catch (error) {
      signal.throwIfAborted();
      const more = moreSources(installer, output, sources);
      if (more === undefined) throw error;
      if (terms.onlyWheels) throw notAllowed(more.why, error);
      onStep(`${more.why}: what there is of source distributions is built, and ${whose(held)}`);
      sources = more.sources;
    }
  }
}

/** Undefined when it failed for something else, or nothing more can be allowed. */
function moreSources(
  { kind }: Installer,
  output: string,
  sources: SourcesAllowed,
): { readonly why: string; readonly sources: SourcesAllowed } | undefined {
  const lacking = sources === "any" ? undefined : findWheelless(kind, output);
  if (lacking === undefined || sources === "any") return undefined;
  if (lacking === "unfit") return { why: "the wheels that were found do not fit together", sources: "any" };
  const names = lacking.names.filter((name) => !sources.includes(name));
  if (names.length === 0 || names.length + sources.length > maxNames) return undefined;
  return { why: `no wheel of ${listed(names)} was found`, sources: [...sources, ...names] };
}

const isSome = (sources: SourcesAllowed): boolean => sources === "any" || sources.length > 0;

const maxListed = 10;

function listed(sources: SourcesAllowed): string {
  if (sources === "any") return "distributions";
  const more = sources.length > maxListed ? `, and ${sources.length - maxListed} more` : "";
  return `${sources.slice(0, maxListed).join(", ")}${more}`;
}

const whose = ({ by, confinement }: Held): string =>
  by === undefined ? "that code runs as this user" : `that code runs confined by ${confinement}`;

function notAllowed(why: string, cause?: unknown): VenvHostError {
  const details = cause instanceof VenvHostError ? cause.details : { step: "install" };
  const cure = "give wheels of it, or allow source distributions, whose code is run to build them";
  return new VenvHostError("VENV_BUILD_FAILED", `${why}, and only wheels are allowed`, { ...details, cause, cure });
}

/** Whatever an installer keeps for itself lies in the build's own folder, and goes with it. */
async function ownFolders({ plan, folder, terms }: InstallTask): Promise<Record<string, string>> {
  const [home, temporary] = [join(folder, "home"), join(folder, "tmp")];
  await mkdir(home, { mode: 0o700 });
  await mkdir(temporary, { mode: 0o700 });
  // Build back-ends look for a compiler here.
  const standard = { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", HOME: home };
  return { ...standard, ...plan.env, ...terms.env, TMPDIR: temporary, PYTHONDONTWRITEBYTECODE: "1" };
}

function policyOf({ plan, folder, terms }: InstallTask, environment: string): ConfinePolicy {
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
