import { resolve } from "node:path";
import { createSessions } from "@berth/code-sessions";
import {
  type Closers,
  createClosers,
  createLogger,
  type ExitSignals,
  exitCodes,
  type Logger,
  listenForExit,
  say,
  untilAborted,
} from "@berth/command-line";
import { type HttpAddress, listen } from "@berth/command-line/http";
import type { Admitter } from "@berth/mcp-server/http";
import { loadConfig, type ShipyardConfig } from "../config/config.js";
import { withConfig } from "../config/config-fault.js";
import { openControlServer } from "../control/control-server.js";
import { obeyer } from "../control/obey.js";
import { ShipyardError } from "../errors.js";
import { createDoors } from "../http/doors.js";
import { localPrincipal } from "../http/parts.js";
import { openLeases } from "../leases/open-leases.js";
import { profileStatuses, requireProfile } from "../profiles/profile-status.js";
import { ownedProfiles } from "../profiles/profiles.js";
import { openAdmission } from "../serving/admission.js";
import { readHttpDoor } from "../serving/http-door.js";
import { openPage } from "../serving/open-page.js";
import { makeUploadsFolder } from "../serving/uploads-folder.js";
import { openStateFolder, type StateFolder } from "../state-folder.js";
import { version } from "../version.js";

/** What the command line says. */
export interface ServeOptions {
  readonly config?: string | undefined;
  readonly state: string;
  readonly uploads?: string | undefined;
  readonly http: string;
}

interface ServeTerms {
  readonly config: ShipyardConfig;
  readonly address: HttpAddress;
  readonly state: StateFolder;
  readonly uploads: string;
  readonly admitter: Admitter<string> | undefined;
  readonly logger: Logger;
}

// What is under way when the server ends: answers, not sandboxes.
const drainMs = 2_000;
const originalCallMs = 600_000;

/** Serves MCP and REST over HTTP until the process is told to end. Leases of an earlier server are recovered first. */
export async function serveCommand(options: ServeOptions): Promise<number> {
  const config = await loadConfig(options.config);
  const address = readHttpDoor(options.http, config);
  const state = await openStateFolder(options.state);
  const logger = await createLogger(config.log.level);
  const admitter = config.auth && (await openAdmission(config.auth, logger));
  const uploads = await makeUploadsFolder(resolve(options.uploads ?? state.uploads));
  const exits = listenForExit({
    onException: (error) => logger.fatal({ err: error }, "a fault of ours"),
    onHangup: () => logger.info("SIGHUP does nothing in this version"),
  });
  const closers = createClosers((name, fault) => logger.error({ err: fault }, `${name} could not be closed`));
  let failure: { readonly error: unknown } | undefined;
  try {
    await start({ config, address, state, uploads, admitter, logger }, closers, exits);
    await untilAborted(exits.signal);
  } catch (error) {
    // Told to end while it was starting: what the steps under way say then is no failure.
    if (!exits.signal.aborted) failure = { error };
  }
  logger.info({ reason: exits.cause() }, "closing");
  const unfinished = await closers.close(config.shutdownMs);
  exits.release();
  if (failure !== undefined) throw failure.error;
  refuseUnfinished(unfinished, config);
  return exits.cause() === "exception" ? exitCodes.failed : exitCodes.good;
}

async function start(terms: ServeTerms, closers: Closers, exits: ExitSignals): Promise<void> {
  const { config, address, state, admitter, logger } = terms;
  const onlyOwner = admitter === undefined ? localPrincipal : undefined;
  const profiles = ownedProfiles({ config, uploads: terms.uploads, onlyOwner });
  const { leases, log, providers } = await openLeases({
    ...{ config, state, logger, closers, mode: "serve", profiles: profiles.find, signal: exits.signal },
    reason: () => exits.cause() ?? "failed",
  });
  const statuses = profileStatuses(config, providers);
  requireProfile(config.profile, statuses);
  const recovered = await leases.recover();
  logger.info({ ...recovered, log: log.logId }, "leases of earlier servers are recovered");
  exits.signal.throwIfAborted();
  const { ttlMs, idleMs, ...limits } = config.sessions;
  const sessions = withConfig(() =>
    createSessions({
      // As long as the original lets a call run, unless the configuration says otherwise.
      limits: { defaultCallMs: Math.min(originalCallMs, limits.maxCallMs ?? originalCallMs), ...limits },
      ...{ leases, profile: profiles.of, ttlMs, idleMs },
      record: (event) => log.recordSession(event),
      onFault: (fault) => logger.error({ err: fault }, "sessions"),
      expectedOwners: onlyOwner === undefined ? [] : [onlyOwner],
    }),
  );
  closers.add("sessions", () => sessions.close());
  const control = await openControlServer(state, obeyer(leases));
  closers.add("control socket", () => control.close());
  const doors = createDoors({
    ...{ version, sessions, admitter, allowedHosts: config.allowedHosts },
    leases: { list: leases.list, profiles: statuses },
    isOperator: admitter && ((principal) => config.auth?.operators.includes(principal) === true),
    ...openPage(config, statuses, closers, exits.signal),
    limits: doorLimits(config),
    onFault: (fault) => logger.error({ err: fault }, "HTTP"),
  });
  const { maxConnections } = config.http;
  const authenticated = admitter !== undefined;
  const listening = await listen({ address, handle: doors.handle, maxConnections, authenticated });
  closers.add("HTTP server", async () => {
    const closed = listening.close(drainMs);
    // At once, so that a call that runs is answered with its end and not cut off; who may still come is refused by now.
    const ended = sessions.close();
    await doors.close();
    await closed;
    await ended;
  });
  if (config.provider === "unconfined") logger.warn("provider: unconfined — code runs with the rights of this user");
  say(JSON.stringify({ event: "listening", url: `${listening.url}/mcp` }));
}

function doorLimits({ http: { maxConnections: _maxConnections, ...limits } }: ShipyardConfig): typeof limits {
  return limits;
}

function refuseUnfinished(unfinished: readonly string[], { shutdownMs }: ShipyardConfig): void {
  if (unfinished.length === 0) return;
  throw new ShipyardError("SHUTDOWN_UNFINISHED", `not closed within ${shutdownMs} ms: ${unfinished.join(", ")}`, {
    lines: ["what is left is ended by the next start, or by `berth-shipyard leases sweep`"],
  });
}
