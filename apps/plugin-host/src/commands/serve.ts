import { setFlagsFromString } from "node:v8";
import {
  createLogger,
  type ExitSignals,
  exitCodes,
  type Logger,
  listenForExit,
  say,
  untilAborted,
} from "@berth/command-line";
import { listen } from "@berth/command-line/http";
import type { McpServer } from "@berth/mcp-server";
import { serveStdio as serveMcpStdio } from "@berth/mcp-server/stdio";
import { AppError } from "../errors.js";
import { type OpenedHost, openHost } from "../hosting/open-host.js";
import { createDoors } from "../http/doors.js";
import { localPrincipal } from "../http/mcp-door.js";
import { createMetrics, type Metrics } from "../http/metrics.js";
import { createHostServer, permission } from "../mcp/host-server.js";
import { type HostFlags, readLogLevel } from "../options.js";
import { offersOfProcesses } from "../process/offers-of-processes.js";
import { createPluginCalls } from "../process/plugin-calls.js";
import { createAskHook } from "../rpc/ask-hook.js";
import { createMethods, type HostMethods } from "../rpc/methods.js";
import { openAdmission } from "../serving/admission.js";
import { openInput } from "../serving/first-line.js";
import { type HttpDoor, readHttpDoor } from "../serving/http-door.js";
import { serveStdio } from "../serving/serve-stdio.js";

/** What the command line says. */
export interface ServeFlags extends HostFlags {
  readonly stdio?: boolean | undefined;
  readonly http?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly allowedHost?: readonly string[] | undefined;
}

/** Where requests come from. */
type Door = { readonly kind: "stdio" } | HttpDoor;

const drainMs = 2_000;
const maxConnections = 256;
/** How long requests that are under way may take once a client over stdio has ended its input. */
const endOfInputMs = 60_000;
/** How long a client over stdio may take to read what is left. */
const lastReadMs = 5_000;

/** Keeps plugins running and runs their hooks, until the client ends its input or the process is told to end. */
export async function serveCommand(flags: ServeFlags): Promise<number> {
  const door = readDoor(flags);
  // One process for many plugins, for weeks: without this, V8 lets garbage grow to a quarter of what the host takes.
  setFlagsFromString("--optimize-for-size");
  const logger = await createLogger(readLogLevel(flags.logLevel, "info"));
  const exits = listenForExit({
    onException: (error) => logger.fatal({ err: error }, "a fault of ours"),
    ...(door.kind === "http" ? { onHangup: () => logger.info("SIGHUP does nothing in this version") } : {}),
  });
  const onProgress = (plugin: string, step: string): void => logger.info({ plugin }, step);
  try {
    const opened = await openHost(flags, { logger, command: "serve", onProgress, signal: exits.signal });
    await runAndClose(door, opened, flags, logger, exits);
  } catch (error) {
    // Told to end while it was starting: what the steps under way say then is no failure.
    if (!exits.signal.aborted || error instanceof AppError) throw error;
  } finally {
    exits.release();
  }
  const code = exits.cause() === "exception" ? exitCodes.failed : exitCodes.good;
  // A program ends once stdout was taken; a client that reads no more must not keep it.
  if (door.kind === "stdio") setTimeout(() => process.exit(code), lastReadMs).unref();
  return code;
}

/** @throws {AppError} `SHUTDOWN_UNFINISHED` */
async function runAndClose(
  door: Door,
  opened: OpenedHost,
  flags: ServeFlags,
  logger: Logger,
  exits: ExitSignals,
): Promise<void> {
  let end = "failed";
  let unfinished: readonly string[] = [];
  try {
    await run(door, opened, flags, logger, exits);
    end = "end of input";
  } catch (error) {
    if (!exits.signal.aborted) throw error;
  } finally {
    const reason = exits.cause() ?? end;
    logger.info({ reason }, "closing");
    unfinished = await opened.close(reason);
  }
  if (unfinished.length > 0) throw new AppError("SHUTDOWN_UNFINISHED", `not closed in time: ${unfinished.join(", ")}`);
}

/** @throws {AppError} `USAGE` */
function readDoor({ stdio, http, tokenFile, allowedHost }: ServeFlags): Door {
  if ((stdio === true) === (http !== undefined))
    throw new AppError("USAGE", "give one of --stdio and --http HOST:PORT");
  if (http === undefined) {
    if (tokenFile !== undefined || allowedHost !== undefined)
      throw new AppError("USAGE", "--token-file and --allowed-host go with --http");
    return { kind: "stdio" };
  }
  return readHttpDoor(http, tokenFile !== undefined, allowedHost);
}

async function run(
  door: Door,
  opened: OpenedHost,
  flags: ServeFlags,
  logger: Logger,
  exits: ExitSignals,
): Promise<void> {
  const { host, audit, processes } = opened;
  const metrics = createMetrics();
  const methods = createMethods(host, processes.supervisor, createAskHook({ host, audit, observer: metrics }));
  const admitter = flags.tokenFile === undefined ? undefined : await openAdmission(flags.tokenFile, logger);
  await startPlugins(opened, logger, exits.signal);
  const onFault = (fault: unknown): void => logger.error({ err: fault }, door.kind);
  const onNote = (text: string): void => logger.warn(text);
  const calls = createPluginCalls({ audit, observer: metrics });
  const offers = await offersOfProcesses(processes, { permission, calls, logger, signal: exits.signal });
  await using server = createHostServer({ methods, offers, onFault, onNote });
  if (door.kind === "stdio") {
    logger.info({ log: audit.logId }, "serving on standard input and output");
    return await serveOverStdio(methods, server, onFault, exits.signal);
  }
  await serveHttp({ door, server, methods, metrics, admitter, onFault, onNote, signal: exits.signal });
}

/** Those that cannot be made ready are told at once; what that means for a hook is each plugin's `on_error`. */
async function startPlugins({ host, processes }: OpenedHost, logger: Logger, signal: AbortSignal): Promise<void> {
  await host.start({ signal });
  for (const { plugin, state, message } of await host.health({ signal })) {
    if (state === "failed" && processes.watch.hasTold(plugin)) continue; // why, and what to do, was told as it happened
    if (state === "failed") logger.error({ plugin }, message);
    else logger.info({ plugin }, `${state}: ${message}`);
  }
}

/** MCP, or the host's own methods: the client's first line decides. */
async function serveOverStdio(
  methods: HostMethods,
  server: McpServer<string>,
  onFault: (fault: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const { stdout: writable } = process;
  const { spoken, readable } = await openInput(process.stdin, signal);
  if (spoken === "json-rpc") return serveStdio({ methods, readable, writable, signal, onFault });
  const onUnexpectedError = (error: unknown): "continue" => {
    onFault(error);
    return "continue";
  };
  await serveMcpStdio({
    server,
    principal: localPrincipal,
    readable,
    writable,
    signal,
    onUnexpectedError,
    exitProcess: false,
    limits: { endOfInputMs },
  });
}

interface HttpParts {
  readonly door: HttpDoor;
  readonly server: McpServer<string>;
  readonly methods: HostMethods;
  readonly metrics: Metrics;
  readonly admitter: Awaited<ReturnType<typeof openAdmission>> | undefined;
  readonly onFault: (fault: unknown) => void;
  readonly onNote: (text: string) => void;
  readonly signal: AbortSignal;
}

async function serveHttp({ door: { address, names }, signal, ...parts }: HttpParts): Promise<void> {
  await using doors = createDoors({ ...parts, names, signal });
  const authenticated = parts.admitter !== undefined;
  const listening = await listen({ address, handle: doors.handle, maxConnections, authenticated });
  say(JSON.stringify({ event: "listening", url: `${listening.url}/mcp` }));
  await untilAborted(signal);
  const closed = listening.close(drainMs);
  await doors.close();
  await closed;
}
