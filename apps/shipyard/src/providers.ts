import { join } from "node:path";
import {
  createBubblewrapProvider,
  createUnconfinedProvider,
  isLeaseError,
  type ManagedProvider,
} from "@berth/environment-leases";
import type { ShipyardConfig } from "./config.js";
import { ShipyardError } from "./errors.js";
import type { Logger } from "./logger.js";
import type { StateFolder } from "./state-folder.js";

/** Providers of a server, and the end of all of them. */
export interface Providers {
  readonly all: readonly ManagedProvider[];
  close(): Promise<void>;
}

/**
 * Both providers: the configured one makes workers, the other one can end what an earlier server made with it.
 * @throws {ShipyardError} `NO_SANDBOX` with cause and cure when the configured one does not work on this machine.
 */
export async function openProviders(
  config: Pick<ShipyardConfig, "provider" | "environments">,
  state: StateFolder,
  logger: Logger,
  signal: AbortSignal | undefined,
): Promise<Providers> {
  const limits = config.environments;
  const unconfined = await createUnconfinedProvider({ folder: join(state.workers, "u"), limits });
  const bubblewrap = await createBubblewrapProvider({
    folder: join(state.workers, "b"),
    limits,
    signal,
    onEgressDecision: (worker, decision) => logger.debug({ worker, ...decision }, "a worker asked for a connection"),
  }).catch((error: unknown) => {
    if (config.provider === "bubblewrap") throw refusal(error);
    logger.warn({ err: error }, "sandboxes do not work on this machine: none of an earlier server can be ended");
    return undefined;
  });
  const all = bubblewrap === undefined ? [unconfined] : [bubblewrap, unconfined];
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
    cause: error,
    lines: lines.filter((line) => line !== undefined),
  });
}
