import { resolve } from "node:path";
import { createClosers, createLogger, isCommandError, type Logger, listenForExit } from "@berth/command-line";
import { type Check, showChecks } from "@berth/command-line/doctor";
import { listen } from "@berth/command-line/http";
import type { EnforcementReport } from "@berth/process-confinement";
import { loadConfig, type ShipyardConfig } from "../config/config.js";
import { machineChecks } from "../doctor/machine.js";
import { probeMachine } from "../doctor/probe-machine.js";
import { findStateToCheck } from "../doctor/state-to-check.js";
import { openStore } from "../leases/open-store.js";
import { openProviders } from "../leases/providers.js";
import { askForLess, profileStatuses } from "../profiles/profile-status.js";
import { openAdmission } from "../serving/admission.js";
import { readHttpDoor } from "../serving/http-door.js";
import { placesIn, type StateFolder } from "../state-folder.js";

/** What the command line says. */
export interface DoctorOptions {
  readonly config?: string | undefined;
  readonly state: string;
  readonly http: string;
  readonly json?: boolean | undefined;
}

/** Says what this machine enforces and lacks. Exit code 0 when `serve` would start with the same options, else 1. */
export async function doctorCommand(options: DoctorOptions): Promise<number> {
  const exits = listenForExit();
  const checks: Check[] = [];
  try {
    const { version } = process;
    checks.push({ name: "this program", status: "ok", message: `runs on node ${version} at ${process.execPath}` });
    const steps = createSteps(checks);
    const config = await steps.run(
      "configuration",
      () => loadConfig(options.config),
      () => options.config ?? "defaults",
    );
    if (config !== undefined) await checkStart(options, config, steps, exits.signal);
  } finally {
    exits.release();
  }
  return showChecks(checks, options);
}

/** The steps of `serve`, one after another, as far as they go without a lease. */
async function checkStart(
  options: DoctorOptions,
  config: ShipyardConfig,
  steps: Steps,
  signal: AbortSignal,
): Promise<void> {
  const report = await probeMachine(config, { limits: "all", signal });
  steps.add(...machineChecks(report, config));
  if (config.provider === "unconfined") steps.add(unconfined);
  const logger = await createLogger("silent");
  const { auth } = config;
  if (auth !== undefined)
    await steps.run(
      "token file",
      () => openAdmission(auth, logger),
      () => auth.tokenFile,
    );
  await steps.run(
    "address",
    () => tryAddress(options.http, config),
    (url) => `${url} is free`,
  );
  const found = await steps.run(
    "state folder",
    () => findStateToCheck(options.state),
    ({ message }) => message,
  );
  if (found === undefined) return;
  const { state } = found;
  try {
    await steps.run(
      "lease store",
      () => tryStore(state),
      () => placesIn(resolve(options.state)).leases,
    );
    const tried = await steps.run(
      "provider",
      () => tryProfiles(config, report, state, logger, signal),
      () => config.provider,
    );
    steps.add(...(tried ?? []));
  } finally {
    await found.close();
  }
}

const unconfined: Check = {
  name: "provider",
  status: "warn",
  message: "unconfined: code runs with the rights of this user, and nothing isolates it",
  advice: "take `provider: unconfined` out of shipyard.yaml where sandboxes work",
};

async function tryAddress(text: string, config: ShipyardConfig): Promise<string> {
  const address = readHttpDoor(text, config);
  const authenticated = config.auth !== undefined;
  const { url, close } = await listen({
    address,
    handle: (_, response) => response.end(),
    maxConnections: 1,
    authenticated,
  });
  await close(0);
  return url;
}

async function tryStore(state: StateFolder): Promise<void> {
  const store = await openStore(state);
  await store.close();
}

async function tryProfiles(
  config: ShipyardConfig,
  report: EnforcementReport,
  state: StateFolder,
  logger: Logger,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  const closers = createClosers(() => {});
  const providers = await openProviders(config, state, logger, signal, { known: report });
  closers.add("providers", () => providers.close());
  try {
    return profileStatuses(config, providers.all).map(({ profile, provider, refusal }): Check => {
      const name = `profile ${profile}`;
      if (refusal === undefined) return { name, status: "ok", message: `can be leased from ${provider}` };
      const status = profile === config.profile ? "fail" : "warn";
      const advice = [refusal.cure, askForLess(profile)].filter((line) => line !== undefined).join("; ");
      return { name, status, message: refusal.message, advice };
    });
  } finally {
    await closers.close(config.shutdownMs);
  }
}

interface Steps {
  add(...checks: readonly Check[]): void;
  /** Runs a step of the start; what it would stop with becomes a failed check. */
  run<T>(name: string, step: () => Promise<T>, say: (value: T) => string): Promise<T | undefined>;
}

function createSteps(checks: Check[]): Steps {
  return {
    add: (...more) => {
      checks.push(...more);
    },
    run: async (name, step, say) => {
      try {
        const value = await step();
        checks.push({ name, status: "ok", message: say(value) });
        return value;
      } catch (error) {
        if (!isCommandError(error)) throw error;
        const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
        // Of a configuration each line is a problem of its own; elsewhere they are ways out.
        const [advice, ...more] = error.code === "CONFIG_INVALID" ? error.lines : [error.lines.join("; ") || undefined];
        checks.push({ name, status: "fail", message: `${error.message}${cause}`, advice });
        for (const message of more) checks.push({ name, status: "fail", message: message ?? "" });
        return undefined;
      }
    },
  };
}
