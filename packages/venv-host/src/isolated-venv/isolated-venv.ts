import { isAbsolute, join } from "node:path";
import { VenvHostError } from "../errors.js";
import type { PluginEntry } from "../executor/plugin-config.js";
import type { OpenPluginOptions, PluginKind, RunningPlugin } from "../executor/plugin-kind.js";
import { importClass } from "../worker/import-class.js";
import { openWorker } from "../worker/open-worker.js";
import type { Worker, WorkerOptions } from "../worker/worker.js";
import { workerEnvironment } from "../worker/worker-environment.js";
import { type Confinement, confinementFaults, createConfinement } from "./confinement.js";
import { rethrowNotImported } from "./explain-failure.js";
import { checkFeatures, mayHoldTokens } from "./feature-gate.js";
import { findWorker } from "./find-worker.js";
import { createTaskFrame } from "./hook-task.js";
import type { IsolatedVenvOptions, PluginEnvironment } from "./isolated-venv-options.js";
import { createLanes } from "./lanes.js";
import { classRootFolder, findPluginPaths, type PluginPaths } from "./plugin-paths.js";
import { readBlock, type VenvBlock } from "./read-block.js";
import { runPlugin } from "./run-plugin.js";

const DEFAULT_MAX_CONTENT_BYTES = 10_000_000;

/**
 * The kind `isolated_venv`: Python CPEX plugins, unchanged, each in a process of its own in an environment of its own.
 * @throws {VenvHostError} `OPTION_INVALID`.
 */
export function isolatedVenv(options: IsolatedVenvOptions): PluginKind {
  const cwd = options.cwd ?? process.cwd();
  if (!isAbsolute(cwd)) throw new VenvHostError("OPTION_INVALID", `cwd must be an absolute path, not ${cwd}`);
  return {
    name: "isolated_venv",
    check(entry) {
      const reading = readBlock(entry);
      if (!reading.ok) return reading.faults;
      return confinementFaults(reading.block, options.confine);
    },
    open: (entry, wait) => open(options, cwd, entry, wait),
  };
}

async function open(
  options: IsolatedVenvOptions,
  cwd: string,
  entry: PluginEntry,
  wait: OpenPluginOptions,
): Promise<RunningPlugin> {
  wait.signal?.throwIfAborted();
  const reading = readBlock(entry);
  if (!reading.ok) throw new VenvHostError("OPTION_INVALID", reading.faults.join("; "));
  const { block } = reading;
  const faults = confinementFaults(block, options.confine);
  if (faults.length > 0) throw new VenvHostError("OPTION_INVALID", faults.join("; "));
  const paths = await findPluginPaths(cwd);
  const environment = await acquire(options, entry, block, paths, wait);
  try {
    return await start(options, { entry, block, paths, environment }, wait);
  } catch (error) {
    await environment.close();
    throw error;
  }
}

function acquire(
  options: IsolatedVenvOptions,
  entry: PluginEntry,
  { className, interpreter, requirementsFile, scriptPath }: VenvBlock,
  { plugins }: PluginPaths,
  { signal, onProgress }: OpenPluginOptions,
): Promise<PluginEnvironment> {
  const requirements = requirementsFile === undefined ? undefined : fullPath(plugins, className, requirementsFile);
  const { name, version } = entry;
  const plugin = { name, pluginsFolder: plugins, className, requirementsFile, version, scriptPath };
  return options.acquire({ interpreter, requirements }, { signal, onProgress }, plugin);
}

function fullPath(plugins: string, className: string, file: string): string {
  return isAbsolute(file) ? file : join(classRootFolder(plugins, className), file);
}

/** What a plugin is started from. */
interface Parts {
  readonly entry: PluginEntry;
  readonly block: VenvBlock;
  readonly paths: PluginPaths;
  readonly environment: PluginEnvironment;
}

async function start(
  options: IsolatedVenvOptions,
  { entry, block, paths, environment }: Parts,
  wait: OpenPluginOptions,
): Promise<RunningPlugin> {
  const script = await findWorker(environment, block.scriptPath);
  const request = { confine: options.confine, pluginName: entry.name, block, environment, script, paths };
  const confinement = await createConfinement(request);
  const maxContentBytes = block.maxContentBytes ?? options.limits?.maxContentBytes ?? DEFAULT_MAX_CONTENT_BYTES;
  const worker: WorkerOptions = {
    python: environment.python,
    script,
    cwd: paths.cwd,
    env: workerEnvironment(options.env ?? process.env),
    limits: {
      ...options.limits,
      maxContentBytes,
      callTimeoutMs: block.callTimeoutMs ?? options.limits?.callTimeoutMs,
    },
    confine: confinement.option,
    holdsSecrets: mayHoldTokens(entry),
    onLog: wait.onLog,
    accept: (features) => checkFeatures(entry, features),
    scheduler: options.scheduler,
  };
  const openOne = (): Worker => openWorker(worker);
  const about = { className: block.className, pluginsFolder: paths.plugins };
  wait.onProgress("starting the worker");
  const first = openOne();
  try {
    const features = await first.features({ signal: wait.signal });
    if (options.importsFirst === true) {
      wait.onProgress(`importing ${block.className}`);
      await importClass(worker, about, wait.signal).catch((error: unknown) => rethrowNotImported(error, about));
    }
    // An old worker runs the first hook that it was asked for, whatever it is asked for later.
    const isOld = features.protocolVersion === undefined;
    const lanes = createLanes(first, openOne, block.pool, (hook) => (isOld ? hook : undefined));
    const frame = createTaskFrame(entry, block, paths.plugins, maxContentBytes);
    return runPlugin({
      lanes,
      frame,
      about,
      environment,
      evidence: evidenceOf(environment, features.cpexVersion, confinement),
    });
  } catch (error) {
    await first.close();
    throw error;
  }
}

function evidenceOf(
  { evidence, key, path }: PluginEnvironment,
  cpexVersion: string | undefined,
  confinement: Confinement,
): Readonly<Record<string, string>> {
  const measured: Record<string, string> =
    evidence === undefined
      ? { environment: "installed", environmentPath: path }
      : { environment: "built", environmentDigest: evidence.digest, pythonVersion: evidence.interpreter.version };
  if (key !== undefined) measured["environmentKey"] = key;
  // Old workers do not tell it.
  const version = cpexVersion ?? evidence?.distributions.find(({ name }) => name === "cpex")?.version;
  if (version !== undefined) measured["cpexVersion"] = version;
  return { ...measured, workerConfinement: confinement.name };
}
