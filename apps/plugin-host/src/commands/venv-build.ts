import { resolve } from "node:path";
import { createLogger, exitCodes, printJson, printLine, say } from "@berth/command-line";
import { confine } from "@berth/process-confinement/launcher";
import {
  type EnvironmentStore,
  type GotEnvironment,
  isolatedVenv,
  isVenvHostError,
  pluginEnvironments,
} from "@berth/venv-host";
import { createPluginHost, type PluginEntry, type PluginKind, type PluginsConfig } from "@berth/venv-host/executor";
import { AppError } from "../errors.js";
import { ofExecutor } from "../hosting/executor-fault.js";
import { openStore } from "../hosting/open-store.js";
import { type HostFlags, readLogLevel, readStoreFlags } from "../options.js";
import { loadPlugins } from "../plugins-file.js";
import { checkPlaces } from "../process/check-places.js";
import { interruptible } from "../serving/interruptible.js";
import { openStateFolder } from "../state-folder.js";

/** What became of one plugin. */
interface Built {
  readonly plugin: string;
  readonly ok: boolean;
  /** `cached`, `built`, `rebuilt`, `installed`; undefined when there is no environment. */
  readonly origin?: string | undefined;
  readonly reason?: string | undefined;
  readonly key?: string | undefined;
  readonly path?: string | undefined;
  readonly evidence?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly error?: string | undefined;
  /** The end of what an installer or a worker said. */
  readonly output?: string | undefined;
}

/** Makes environments, starts each plugin's worker once and imports its class. Exit code 1 when a plugin cannot be made ready. */
export async function venvBuildCommand(
  names: readonly string[],
  flags: HostFlags & { readonly json?: boolean | undefined },
): Promise<number> {
  const terms = readStoreFlags(flags);
  const config = await loadPlugins(flags.config);
  const picked = pick(config.plugins, names);
  const entries = picked.filter(({ kind }) => kind !== "process");
  for (const { name } of names.length === 0 ? [] : picked.filter(({ kind }) => kind === "process"))
    say(`plugin ${name} is of the kind process: it has no environment to build`);
  const logger = await createLogger(readLogLevel(flags.logLevel, "warn"));
  for (const warning of config.warnings) logger.warn(`${flags.config}: ${warning}`);
  if (entries.length === 0) say(`${flags.config} has no plugins to build for`);
  await checkPlaces({ config, file: flags.config, data: resolve(flags.state, "plugins") }, flags.state);
  const { venvs } = await openStateFolder(flags.state);
  return interruptible(async ({ signal }) => {
    await using store = await openStore(venvs, terms);
    const built = await buildAll(store, { ...config, plugins: entries }, flags, signal);
    if (flags.json === true) printJson({ plugins: built });
    return built.every(({ ok }) => ok) ? exitCodes.good : exitCodes.failed;
  });
}

async function buildAll(
  store: EnvironmentStore,
  config: PluginsConfig,
  { cwd = ".", json = false }: HostFlags & { readonly json?: boolean | undefined },
  signal: AbortSignal,
): Promise<readonly Built[]> {
  let got: GotEnvironment | undefined;
  const onGot = async (environment: GotEnvironment): Promise<void> => {
    got = environment;
  };
  const kind = isolatedVenv({
    acquire: pluginEnvironments({ store, onGot }),
    cwd: resolve(cwd),
    confine,
    importsFirst: true,
  });
  checkAll(config, kind);
  const built: Built[] = [];
  for (const entry of config.plugins) {
    got = undefined;
    const { evidence, error } = await makeReady(kind, entry, signal);
    signal.throwIfAborted();
    const one = toldBuild(entry, got, evidence, error);
    built.push(one);
    if (!json) print(one);
  }
  return built;
}

/** @throws {AppError} for a name that no plugin has. */
function pick(plugins: readonly PluginEntry[], names: readonly string[]): readonly PluginEntry[] {
  const unknown = names.find((name) => !plugins.some((entry) => entry.name === name));
  if (unknown !== undefined) throw new AppError("USAGE", `there is no plugin ${unknown} in the configuration`);
  const enabled = plugins.filter(({ mode }) => mode !== "disabled");
  return names.length === 0 ? enabled : plugins.filter(({ name }) => names.includes(name));
}

/** As a host would check them. Nothing is started. */
function checkAll(config: PluginsConfig, kind: PluginKind): void {
  try {
    createPluginHost({ config, kinds: [kind] });
  } catch (error) {
    ofExecutor(error);
  }
}

interface Readiness {
  readonly evidence?: Built["evidence"];
  readonly error?: unknown;
}

async function makeReady(kind: PluginKind, entry: PluginEntry, signal: AbortSignal): Promise<Readiness> {
  try {
    const onProgress = (step: string): void => say(`plugin ${entry.name}: ${step}`);
    await using plugin = await kind.open(entry, { signal, onProgress, onLog: () => {} });
    return { evidence: plugin.evidence };
  } catch (error) {
    return { error };
  }
}

function toldBuild(
  { name }: PluginEntry,
  got: GotEnvironment | undefined,
  evidence: Built["evidence"],
  error: unknown,
): Built {
  const environment =
    got === undefined
      ? {}
      : "held" in got
        ? { origin: got.held.origin, reason: got.held.reason, key: got.held.key, path: got.held.path }
        : { origin: "installed", path: got.installed };
  if (error === undefined) return { plugin: name, ok: true, ...environment, evidence };
  const message = error instanceof Error ? error.message : String(error);
  const details = isVenvHostError(error) ? error.details : undefined;
  return { plugin: name, ok: false, ...environment, error: message, output: details?.stderrExcerpt };
}

function print(built: Built): void {
  const { plugin, ok, origin, key, path, reason, evidence, error, output } = built;
  if (!ok) {
    printLine(`FAILED   plugin ${plugin}: ${error ?? ""}`);
    for (const line of (output ?? "").split("\n").filter((text) => text !== "")) printLine(`         ${line}`);
    return;
  }
  const versions = `python ${evidence?.["pythonVersion"] ?? "?"}, cpex ${evidence?.["cpexVersion"] ?? "unknown"}`;
  printLine(
    `${(origin ?? "").padEnd(9)}plugin ${plugin}  ${key?.slice(0, 16) ?? path ?? ""}  ${versions}${reason === undefined ? "" : `  (${reason})`}`,
  );
}
