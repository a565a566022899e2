import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "@berth/command-line";
import {
  createBubblewrapProvider,
  createUnconfinedProvider,
  isLeaseError,
  type ManagedProvider,
} from "@berth/environment-leases";
import type { EnforcementReport } from "@berth/process-confinement";
import type { EgressDecision } from "@berth/process-confinement/egress";
import type { ShipyardConfig } from "../config/config.js";
import { probeMachine } from "../doctor/probe-machine.js";
import { ShipyardError } from "../errors.js";
import type { StateFolder } from "../state-folder.js";

/** Providers of a server, and the end of all of them. */
export interface Providers {
  readonly all: readonly ManagedProvider[];
  close(): Promise<void>;
}

export interface ProviderParts {
  /** What the machine was found to enforce. */
  readonly known?: EnforcementReport | undefined;
  /** Told before a connection is made; one that throws lets nothing pass. */
  readonly onEgress?: ((worker: string, decision: EgressDecision) => void) | undefined;
}

/**
 * The configured provider, and the other one where an earlier server has used it, so that what is left of it can be ended.
 * Without a report the machine is tried first, for no more than the profiles ask for.
 * @throws {ShipyardError} `NO_SANDBOX` with cause and cure when the configured one does not work on this machine.
 */
export async function openProviders(
  config: Pick<ShipyardConfig, "provider" | "profile" | "profiles" | "environments">,
  state: StateFolder,
  logger: Logger,
  signal: AbortSignal | undefined,
  { known, onEgress }: ProviderParts = {},
): Promise<Providers> {
  const folders = { bubblewrap: join(state.workers, "b"), unconfined: join(state.workers, "u") };
  const isNeeded = (name: keyof typeof folders): boolean => config.provider === name || existsSync(folders[name]);
  const limits = config.environments;
  const all: ManagedProvider[] = [];
  if (isNeeded("bubblewrap")) {
    // To end what an earlier server has left, nothing of the machine has to hold.
    const endsOnly = config.provider !== "bubblewrap";
    const report = endsOnly ? undefined : (known ?? (await probeMachine(config, { limits: "profiles", signal })));
    const sandboxes = await createBubblewrapProvider({
      ...{ folder: folders.bubblewrap, limits, report, endsOnly },
      onEgressDecision: (worker, decision) => {
        logger.debug({ worker, ...decision }, "a worker asked for a connection");
        onEgress?.(worker, decision);
      },
    }).catch((error: unknown) => {
      throw refusal(error);
    });
    all.push(sandboxes);
  }
  if (isNeeded("unconfined")) all.push(await createUnconfinedProvider({ folder: folders.unconfined, limits }));
  return {
    all,
    close: async () => {
      for (const provider of all) await provider.close();
    },
  };
}

function refusal(error: unknown): unknown {
  if (!isLeaseError(error) || error.code !== "CAPABILITY_MISSING") return error;
  const lines = [error.cure, "or write `provider: unconfined` into shipyard.yaml, which isolates nothing"];
  return new ShipyardError("NO_SANDBOX", error.message, {
    cause: error.cause,
    lines: lines.filter((line) => line !== undefined),
  });
}
