import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Check } from "@berth/command-line/doctor";
import { probe } from "@berth/process-confinement";
import { confine } from "@berth/process-confinement/launcher";
import { foreseenText, isVenvHostError, tryPlugin } from "@berth/venv-host";
import type { PluginEntry } from "@berth/venv-host/executor";
import type { GatewayConfig } from "../config.js";
import { enabledPlugins } from "../plugins/enabled-plugins.js";
import { openStore } from "../plugins/open-plugins.js";
import type { PluginSettings } from "../plugins/plugin-settings.js";
import type { ReadPlugins } from "../plugins/read-plugins.js";
import { findUnasked } from "../plugins/unasked.js";
import type { StateFolder } from "../state-folder.js";

/** Each plugin: in which environment it would run, or what it lacks. Nothing is built; what is there already is tried. */
export async function checkPlugins(
  { plugins: settings }: GatewayConfig,
  { config, file }: ReadPlugins,
  state: StateFolder | undefined,
  signal: AbortSignal,
): Promise<Check[]> {
  if (settings === undefined) return [];
  const checks: Check[] = [{ name: "plugins", status: "ok", message: file }];
  for (const message of config.warnings) checks.push({ name: "plugins", status: "warn", message });
  for (const { plugin, message } of findUnasked(config))
    checks.push({ name: `plugin ${plugin}`, status: "warn", message });
  checks.push(...(await checkFolder(settings)));
  if (state !== undefined) checks.push(...(await checkEnvironments(settings, enabledPlugins(config), state, signal)));
  if (enabledPlugins(config).some(isConfined)) checks.push(await checkConfinement(signal));
  return checks;
}

async function checkFolder({ cwd }: PluginSettings): Promise<Check[]> {
  const path = join(cwd, "plugins");
  const found = await stat(path).catch(() => undefined); // absent: said below
  if (found?.isDirectory() === true) return [];
  const message = `there is no folder ${path}: no plugin can be loaded`;
  return [{ name: "plugins", status: "warn", message, advice: "make it, or say plugins.cwd in gateway.yaml" }];
}

/** One that cannot run keeps `serve` from nothing: each has its `on_error`. */
async function checkEnvironments(
  settings: PluginSettings,
  entries: readonly PluginEntry[],
  { venvs }: StateFolder,
  signal: AbortSignal,
): Promise<Check[]> {
  const { cwd } = settings;
  try {
    await using store = await openStore(settings, venvs);
    const ready = (await store.list({ signal })).filter(({ state }) => state === "ready");
    const known = new Set(ready.map(({ key }) => key));
    const checks: Check[] = [];
    for (const entry of entries) {
      const name = `plugin ${entry.name}`;
      try {
        // As `serve` would start it, and then as its first hook would import it.
        const foreseen = await tryPlugin(entry, { cwd, store, known, confine, signal });
        checks.push({ name, status: "ok", message: foreseenText(foreseen) });
      } catch (error) {
        signal.throwIfAborted();
        checks.push(lacking(name, error, "warn"));
      }
    }
    return checks;
  } catch (error) {
    signal.throwIfAborted();
    return [lacking("environments of plugins", error, "fail")];
  }
}

function lacking(name: string, error: unknown, status: "warn" | "fail"): Check {
  const advice = isVenvHostError(error) ? error.details.cure : undefined;
  return { name, status, message: error instanceof Error ? error.message : String(error), advice };
}

function isConfined({ config }: PluginEntry): boolean {
  const asked = config?.["confine"];
  return asked !== undefined && asked !== null && asked !== false;
}

async function checkConfinement(signal: AbortSignal): Promise<Check> {
  const name = "confinement of plugins";
  const report = await probe({ limits: [], signal });
  if (report.usable) return { name, status: "ok", message: "this machine holds what `confine` asks for" };
  const missing = report.findings.find(({ holds }) => !holds);
  return { name, status: "warn", message: missing?.cause ?? "sandboxes do not come up here", advice: missing?.cure };
}
