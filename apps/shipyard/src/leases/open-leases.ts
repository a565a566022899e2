import type { Closers, Logger } from "@berth/command-line";
import { createLeases, type EnvironmentProfile, type Leases, type ManagedProvider } from "@berth/environment-leases";
import { type AuditLog, openAuditLog } from "../audit/audit-log.js";
import type { ShipyardConfig } from "../config/config.js";
import { withConfig } from "../config/config-fault.js";
import type { StateFolder } from "../state-folder.js";
import { version } from "../version.js";
import { leaseRoom } from "./lease-room.js";
import { openStore } from "./open-store.js";
import { openProviders } from "./providers.js";

/** What leases are made of, in one state folder. */
export interface LeasesParts {
  readonly config: ShipyardConfig;
  readonly state: StateFolder;
  readonly profiles: (name: string) => EnvironmentProfile | undefined;
  readonly logger: Logger;
  /** Everything that is opened goes here, also when a later step fails. */
  readonly closers: Closers;
  /** What the process is, for `session.open`. */
  readonly mode: string;
  /** Why the log ends. */
  readonly reason: () => string;
  readonly signal?: AbortSignal | undefined;
}

export interface OpenedLeases {
  readonly leases: Leases;
  readonly log: AuditLog;
  readonly providers: readonly ManagedProvider[];
}

/** Store, log, providers, leases: in this order, so that whoever does not get the store leaves no trace. Nothing is recovered yet. */
export async function openLeases(parts: LeasesParts): Promise<OpenedLeases> {
  const { config, state, logger, closers, signal } = parts;
  const store = await openStore(state);
  closers.add("lease store", () => store.close());
  // A command that only ends leases serves none: saying a provider would be a word about what did not run.
  const served = parts.mode === "serve" ? { provider: config.provider, profile: config.profile } : {};
  const log = await openAuditLog({
    folder: state.audit,
    durability: config.audit.durability,
    opening: { mode: parts.mode, version, pid: process.pid, ...served },
    now: Date.now,
    onTurn: (refusal) => {
      if (refusal === undefined) logger.info("the audit log takes entries again");
      else logger.error({ err: refusal }, "the audit log takes no entries: nothing is run until it does");
    },
  });
  closers.add("audit log", () => log.close(parts.reason()));
  const providers = await openProviders(config, state, logger, signal, { onEgress: log.recordEgress });
  closers.add("providers", () => providers.close());
  const leases = withConfig(() =>
    createLeases({
      store,
      providers: providers.all,
      profiles: parts.profiles,
      record: (event) => log.recordLease(event),
      onFault: (fault) => logger.error({ err: fault }, "leases"),
      limits: leaseRoom(config),
      onRecovery: config.recovery,
      allowUnconfined: config.provider === "unconfined",
    }),
  );
  closers.add("leases", () => leases.close());
  return { leases, log, providers: providers.all };
}
