import { listenForExit } from "@berth/command-line";
import { type Check, showChecks } from "@berth/command-line/doctor";
import { createMeasurer } from "@berth/spawn-attestation";
import { loadCatalog } from "../catalog-file.js";
import { defaultConfig, loadConfig } from "../config.js";
import { checkMachine } from "../doctor/machine.js";
import { checkServers } from "../doctor/servers.js";
import { GatewayError } from "../errors.js";
import { preparePlugins } from "../plugins/prepare-plugins.js";
import { openStateFolder } from "../state-folder.js";

/** What the command line says. */
export interface DoctorOptions {
  readonly catalog?: string | undefined;
  readonly config?: string | undefined;
  readonly state: string;
  readonly json?: boolean | undefined;
}

/** Says what this machine and this catalog lack. Exit code 0 when `serve` would start, else 1. */
export async function doctorCommand(options: DoctorOptions): Promise<number> {
  const exits = listenForExit();
  const measurer = createMeasurer();
  const checks: Check[] = [];
  /** Runs a step of the start; what it would stop with becomes a failed check. */
  const attempt = async <T>(name: string, advice: string, step: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      checks.push(...failures(name, error, advice));
      return undefined;
    }
  };
  try {
    checks.push(...(await checkMachine(measurer, exits.signal)));
    const state = await attempt("state folder", "give another one with --state", () => openStateFolder(options.state));
    if (state !== undefined) checks.push({ name: "state folder", status: "ok", message: state.path });
    const config = await attempt("configuration", "correct gateway.yaml", () => loadConfig(options.config));
    checks.push(...settingsChecks(config ?? defaultConfig));
    if (config?.plugins !== undefined) {
      const plugins = await attempt("plugins", "correct plugins.yaml", () => preparePlugins(config));
      if (plugins !== undefined) {
        const { checkPlugins } = await import("../doctor/plugins.js");
        checks.push(...(await checkPlugins(config, plugins, state, exits.signal)));
      }
    }
    const { catalog } = options;
    if (catalog !== undefined) {
      const file = await attempt("catalog", "correct the catalog", () => loadCatalog(catalog));
      if (file?.catalog.servers.size === 0) checks.push(noServers(file.path));
      if (file !== undefined)
        checks.push(...(await checkServers(file, config ?? defaultConfig, measurer, exits.signal)));
    }
  } finally {
    await measurer.close();
    exits.release();
  }
  return showChecks(checks, options);
}

function failures(name: string, error: GatewayError, advice: string): Check[] {
  const messages = error.lines.length === 0 ? [error.message] : error.lines;
  return messages.map((message) => ({ name, status: "fail", message, advice }));
}

function noServers(path: string): Check {
  const advice = `berth-gateway import CLIENT-CONFIGURATION --out ${path}`;
  return { name: "catalog", status: "fail", message: "holds no servers", advice };
}

function settingsChecks({ attestation }: typeof defaultConfig): Check[] {
  if (!attestation.allowUnmeasuredSpawn) return [];
  const message = "attestation.allowUnmeasuredSpawn is set: servers that are not pinned are started";
  return [{ name: "configuration", status: "warn", message, advice: "pin the servers and take it out" }];
}
