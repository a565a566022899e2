import { type ExitSignals, exitCodes, type Logger, listenForExit } from "@berth/command-line";
import { createRelaySession, type RelaySession, type ServerPolicy } from "@berth/mcp-relay";
import { createMeasurer } from "@berth/spawn-attestation";
import { createStreamTransport, sweepChildren } from "@berth/stdio-transport";
import type { GatewayConfig } from "./config.js";
import { beginMemoryEconomy, type MemoryEconomy } from "./memory-economy.js";
import {
  createOpenUpstream,
  type OpenedServer,
  type PlannedServer,
  ServerRefusal,
  type ServerStarter,
  type StartWatch,
} from "./open-server.js";
import type { OpenedPlugins } from "./plugins/open-plugins.js";
import type { ReadPlugins } from "./plugins/read-plugins.js";
import { type PrepareSignals, prepareFor } from "./prepare-for.js";
import { openSessionLog, type SessionLog } from "./session-log.js";
import type { StateFolder } from "./state-folder.js";
import { version } from "./version.js";

/** One client on standard input and output, and the servers behind it. */
export interface StdioSessionTerms {
  readonly mode: "run" | "serve";
  readonly config: GatewayConfig;
  readonly plugins: ReadPlugins | undefined;
  readonly names: GatewayConfig["names"];
  readonly observe: boolean;
  readonly state: StateFolder;
  readonly logger: Logger;
  readonly serverNames: readonly string[];
  /** What `session.open` says beside what all sessions say. */
  readonly opening: { readonly catalogDigest?: string | undefined; readonly catalog?: string | undefined };
  /** Called once the log is open: what is served. Its signals end when the client is gone or the process is told to end. */
  prepare(starter: Omit<ServerStarter, "servers">, signals: PrepareSignals): Promise<ServedServers>;
  /** What a person can do about a refusal. */
  advise(server: string, reason: string): string | undefined;
}

/** What a session serves. */
export interface ServedServers {
  readonly policies: readonly ServerPolicy[];
  readonly planned: ReadonlyMap<string, PlannedServer>;
}

/**
 * Serves one session until the client is gone or the process is told to end. When it returns, every child is gone and the
 * log is closed. The exit code of `run` is 3 when its server was refused, 1 when it could not be started.
 */
export async function serveStdio(terms: StdioSessionTerms): Promise<number> {
  const memory = beginMemoryEconomy();
  const { logger, state, config, observe } = terms;
  const exits = listenForExit({ onException: (error) => logger.fatal({ err: error }, "a fault of ours") });
  const opened = new Map<string, OpenedServer>();
  const failed = new Map<string, unknown>();
  const measurer = createMeasurer();
  const log = await openSessionLog({
    folder: state.audit,
    durability: config.audit.durability,
    now: Date.now,
    opening: opening(terms),
    childFacts: (server) => {
      const child = opened.get(server);
      return child === undefined ? undefined : { containment: child.containment, stderrBytes: child.stderrBytes?.() };
    },
  });
  let plugins: OpenedPlugins | undefined;
  try {
    const policy = { allowUnmeasuredSpawn: config.attestation.allowUnmeasuredSpawn, observe };
    const starter = { policy, log, state, measurer, logger, advise: terms.advise };
    const sweeping = sweepLeftovers(state, logger, exits.signal);
    const { value: served, isOver } = await prepareFor(process.stdin, exits.signal, async (signals) => {
      plugins = await terms.plugins?.open({ venvs: state.venvs, log, logger, signal: signals.signal });
      return terms.prepare(starter, signals);
    });
    for (const [name, server] of served?.planned ?? []) if (server.kind === "failed") failed.set(name, server.error);
    if (served === undefined) {
      logger.warn("ended before the server was ready for the client: nothing is pinned");
      return exitCodes.good;
    }
    if (isOver) return exitCodeAfter([...failed.values()]);
    const session = openSession({ ...terms, opened: plugins }, starter, memory, served, {
      onOpened: (name, server) => opened.set(name, server),
      onFailed: (name, error) => failed.set(name, error),
    });
    await ended(session, exits);
    await sweeping;
    if (exits.cause() === "exception") return exitCodes.failed;
    return terms.mode === "run" && opened.size === 0 ? exitCodeAfter([...failed.values()]) : exitCodes.good;
  } finally {
    await measurer.close();
    await plugins?.close();
    const reason = exits.cause() ?? "CLIENT_CLOSED";
    try {
      await log.close(reason);
      logger.info({ reason, log: log.logId }, "closed");
    } finally {
      exits.release();
    }
  }
}

/** Of a `run` whose server never started. */
function exitCodeAfter(failures: readonly unknown[]): number {
  if (failures.length === 0) return exitCodes.good;
  return failures.some((error) => error instanceof ServerRefusal) ? exitCodes.refused : exitCodes.failed;
}

function openSession(
  terms: StdioSessionTerms & { readonly opened: OpenedPlugins | undefined },
  starter: Omit<ServerStarter, "servers"> & { readonly log: SessionLog },
  memory: MemoryEconomy,
  { policies, planned }: ServedServers,
  watch: StartWatch,
): RelaySession {
  const { config, logger, observe, opened } = terms;
  const mayRunUnpinned = config.attestation.allowUnmeasuredSpawn || observe;
  return createRelaySession({
    downstream: createStreamTransport({ readable: process.stdin, writable: process.stdout, ...config.limits }),
    servers: policies,
    openUpstream: createOpenUpstream({ ...starter, servers: planned }, watch),
    record: (event) => {
      memory.passed(event);
      return starter.log.record(event);
    },
    names: terms.names,
    observe,
    unpinned: mayRunUnpinned ? "show" : "hide",
    passThroughInitialize: terms.mode === "run",
    interceptor: opened?.interceptor,
    limits: { interceptMs: opened?.interceptMs },
    serverInfo: { name: "berth-gateway", version },
    onFault: (fault) => logger.error(fault, "a line of a server that is no message"),
    onNotice: ({ code, server, message }) => logger.warn({ code, server }, message),
    advise: ({ server, reason }) => {
      if (reason === "NOT_RECORDED") return starter.log.adviseUnrecorded();
      return server === undefined ? undefined : terms.advise(server, reason);
    },
  });
}

function opening(terms: StdioSessionTerms): Record<string, string | boolean | number | string[] | undefined> {
  const { config, plugins, mode, names, observe } = terms;
  return {
    ...terms.opening,
    plugins: plugins?.file,
    pluginsDigest: plugins?.digest,
    mode,
    version,
    pid: process.pid,
    names,
    observe,
    allowUnmeasuredSpawn: config.attestation.allowUnmeasuredSpawn,
    guardDefault: config.attestation.guard,
    durability: config.audit.durability,
    servers: [...terms.serverNames],
  };
}

/** What hosts that were killed have left behind in this state folder. */
async function sweepLeftovers(state: StateFolder, logger: Logger, signal: AbortSignal): Promise<void> {
  try {
    const { ended, unproven, failed } = await sweepChildren(state.children, { signal });
    for (const { pid, file } of ended)
      logger.warn({ pid, file }, "ended a server that a killed gateway had left behind");
    for (const { pid, file } of [...unproven, ...failed])
      logger.warn({ pid, file }, "a server of a killed gateway may be left");
  } catch (error) {
    if (!signal.aborted) logger.warn({ err: error }, "could not look for servers that killed gateways left behind");
  }
}

async function ended(session: RelaySession, exits: ExitSignals): Promise<void> {
  const close = (): void => {
    void session.close();
  };
  if (exits.signal.aborted) close();
  exits.signal.addEventListener("abort", close, { once: true });
  await session.closed;
  exits.signal.removeEventListener("abort", close);
}
