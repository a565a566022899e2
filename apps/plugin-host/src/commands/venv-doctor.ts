import { access, constants, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Check, showChecks } from "@berth/command-line/doctor";
import { probe } from "@berth/process-confinement";
import { confine } from "@berth/process-confinement/launcher";
import { type EnvironmentStore, foreseenText, isolatedVenv, isVenvHostError, tryPlugin } from "@berth/venv-host";
import { createPluginHost, type PluginEntry, type PluginsConfig } from "@berth/venv-host/executor";
import { ofExecutor } from "../hosting/executor-fault.js";
import { openStore } from "../hosting/open-store.js";
import { type HostFlags, readStoreFlags } from "../options.js";
import { loadPlugins } from "../plugins-file.js";
import { checkProcesses } from "../process/check-processes.js";
import { isProcess, readProcesses } from "../process/open-processes.js";
import { interruptible } from "../serving/interruptible.js";
import { openStateFolder, type StateFolder } from "../state-folder.js";

/** Says what keeps plugins from running. Nothing is built; what is there already is tried. Exit code 0 when `serve` would start, else 1. */
export async function venvDoctorCommand(flags: HostFlags & { readonly json?: boolean | undefined }): Promise<number> {
  const { version, execPath } = process;
  const checks: Check[] = [{ name: "this program", status: "ok", message: `runs on node ${version} at ${execPath}` }];
  await interruptible(({ signal }) => lookAtAll(checks, flags, signal));
  return showChecks(checks, flags);
}

async function lookAtAll(checks: Check[], flags: HostFlags, signal: AbortSignal): Promise<void> {
  const cwd = resolve(flags.cwd ?? ".");
  const readConfig = (): Promise<PluginsConfig> => checkedConfig(flags.config, cwd);
  const config = await step(checks, "configuration", readConfig, () => flags.config);
  for (const message of config?.warnings ?? []) checks.push({ name: "configuration", status: "warn", message });
  if (config === undefined || !config.plugins.every(({ kind }) => kind === "process"))
    await checkPluginsFolder(checks, cwd);
  const state = await step(
    checks,
    "state folder",
    () => writableState(flags.state),
    ({ path }) => path,
  );
  if (config === undefined || state === undefined) return;
  if (config.plugins.length === 0) checks.push({ name: "configuration", status: "warn", message: "it has no plugins" });
  const terms = readStoreFlags(flags);
  const openIt = (): Promise<EnvironmentStore> => openStore(state.venvs, terms);
  const store = await step(checks, "store of environments", openIt, () => state.venvs);
  if (store === undefined) return;
  try {
    const known = new Set(
      (await store.list({ signal })).filter(({ state: is }) => is === "ready").map(({ key }) => key),
    );
    for (const entry of config.plugins.filter((each) => each.mode !== "disabled" && !isProcess(each))) {
      checks.push(await checkPlugin(entry, cwd, { store, known }, signal));
      signal.throwIfAborted();
    }
  } finally {
    await store.close();
  }
  checks.push(...(await checkProcesses({ config, file: flags.config, data: state.plugins }, signal)));
  if (config.plugins.some((entry) => isConfined(entry))) checks.push(await checkConfinement(signal));
}

/** Without a log nothing is answered, so a folder that can only be read is of no use. */
async function writableState(path: string): Promise<StateFolder> {
  const state = await openStateFolder(path);
  await access(state.path, constants.W_OK);
  return state;
}

async function step<T>(
  checks: Check[],
  name: string,
  act: () => Promise<T>,
  message: (value: T) => string,
): Promise<T | undefined> {
  try {
    const value = await act();
    checks.push({ name, status: "ok", message: message(value) });
    return value;
  } catch (error) {
    checks.push(failed(name, error));
    return undefined;
  }
}

function failed(name: string, error: unknown): Check {
  const lines = error instanceof Error && "lines" in error && Array.isArray(error.lines) ? error.lines.map(String) : [];
  const cure = isVenvHostError(error) ? error.details.cure : undefined;
  return { name, status: "fail", message: [...reasonsOf(error), ...lines].join("; "), advice: cure };
}

/** What an error says, and what it comes from unless it says that itself. */
function reasonsOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)];
  const { message, cause } = error;
  return cause instanceof Error && !message.includes(cause.message) ? [message, cause.message] : [message];
}

/** As `serve` would check it: with the kinds' own faults. */
async function checkedConfig(path: string, cwd: string): Promise<PluginsConfig> {
  const config = await loadPlugins(path);
  const kind = isolatedVenv({ acquire: refuse, cwd, confine });
  readProcesses({ config, file: path, data: "/" });
  try {
    createPluginHost({ config, kinds: [kind, { name: "process", check: () => [], open: refuse }] });
  } catch (error) {
    ofExecutor(error);
  }
  return config;
}

function refuse(): Promise<never> {
  return Promise.reject(new Error("nothing is started here"));
}

async function checkPluginsFolder(checks: Check[], cwd: string): Promise<void> {
  const path = join(cwd, "plugins");
  const found = await stat(path).catch(() => undefined); // absent: said below
  const name = "plugins folder";
  if (found?.isDirectory() === true) checks.push({ name, status: "ok", message: path });
  else {
    const advice = "make it, or name the folder that has it with --cwd";
    checks.push({ name, status: "warn", message: `there is no folder ${path}: no plugin can be loaded`, advice });
  }
}

interface Known {
  readonly store: EnvironmentStore;
  /** Keys of environments that are there. */
  readonly known: ReadonlySet<string>;
}

/** What it would run in. A plugin that cannot run keeps `serve` from nothing: each has its `on_error`. */
async function checkPlugin(
  entry: PluginEntry,
  cwd: string,
  { store, known }: Known,
  signal: AbortSignal,
): Promise<Check> {
  const name = `plugin ${entry.name}`;
  try {
    // As `serve` would start it, and then as its first hook would import it.
    const foreseen = await tryPlugin(entry, { cwd, store, known, confine, signal });
    return { name, status: "ok", message: foreseenText(foreseen) };
  } catch (error) {
    return { ...failed(name, error), status: "warn" };
  }
}

function isConfined({ config }: PluginEntry): boolean {
  const confine = config?.["confine"];
  return confine !== undefined && confine !== null && confine !== false;
}

async function checkConfinement(signal: AbortSignal): Promise<Check> {
  const name = "confinement of workers";
  const report = await probe({ limits: [], signal });
  if (report.usable) return { name, status: "ok", message: "this machine holds what `confine` asks for" };
  const lacking = report.findings.find(({ holds }) => !holds);
  return { name, status: "warn", message: lacking?.cause ?? "sandboxes do not come up here", advice: lacking?.cure };
}
