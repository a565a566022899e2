import type { StdioServer } from "@berth/mcp-relay";
import { adviseAbout, pinCommandLine } from "../advice.js";
import { callerEnvironment } from "../caller-environment.js";
import { type GatewayConfig, loadConfig } from "../config.js";
import { GatewayError } from "../errors.js";
import { examineServer } from "../examine-server.js";
import { createLogger } from "../logger.js";
import type { PlannedServer, ServerStarter } from "../open-server.js";
import { planServer, policyOf } from "../plan-servers.js";
import { type ServedServers, serveStdio } from "../relay-session.js";
import { findRunServer, keepRunPins, newRunServer, type RunCommand, runName, withVariables } from "../run-catalog.js";
import { openStateFolder } from "../state-folder.js";

/** What the command line says. */
export interface RunOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly string[];
  readonly config?: string;
  readonly state: string;
  readonly observe?: boolean;
}

/** Stands between a client and one server: pins it at its first use, refuses it when it changed. */
export async function runCommand(options: RunOptions): Promise<number> {
  const config = await loadConfig(options.config);
  const command: RunCommand = { command: options.command, args: options.args, cwd: process.cwd() };
  const name = runName(command);
  const state = await openStateFolder(options.state);
  const held = await findRunServer(state, name);
  const server = withVariables(held ?? newRunServer(command, options.env), options.env);
  const planned = await planRun(name, server, config);
  const logger = await createLogger(config.log.level);
  const pinLine = pinCommandLine(command, options.state);
  return serveStdio({
    mode: "run",
    config,
    names: "plain",
    observe: options.observe === true,
    state,
    logger,
    serverNames: [name],
    opening: {},
    prepare: (starter, signal) => {
      if (held !== undefined) return Promise.resolve(served(name, server, planned, config));
      logger.info({ server: name }, "first use of this command line here: it is pinned now");
      return firstUse(name, server, planned, config, starter, signal);
    },
    advise: (_server, reason) => adviseAbout(reason, pinLine),
  });
}

/** @throws {GatewayError} `ENVIRONMENT_UNRESOLVED`. */
async function planRun(name: string, server: StdioServer, config: GatewayConfig): Promise<PlannedStdio> {
  const plan = await planServer(server, {
    directory: server.spawn.cwd ?? process.cwd(),
    variables: callerEnvironment(process.env),
    config,
  });
  if (!plan.ok)
    throw new GatewayError("ENVIRONMENT_UNRESOLVED", `the environment of ${name} is incomplete`, {
      lines: plan.problems,
    });
  if (plan.planned.kind !== "stdio") throw new Error("a run server is a stdio server");
  return plan.planned;
}

type PlannedStdio = Extract<PlannedServer, { kind: "stdio" }>;

/** Examines the server and keeps what it is; another gateway that was first decides. What fails is what the client is told. */
async function firstUse(
  name: string,
  server: StdioServer,
  planned: PlannedStdio,
  config: GatewayConfig,
  starter: Omit<ServerStarter, "servers">,
  signal: AbortSignal,
): Promise<ServedServers> {
  try {
    const { description, environmentNames, limits } = planned;
    const deadlines = { ...config.deadlines, ...server.deadlines };
    const examined = await examineServer(starter, {
      name,
      description,
      environmentNames,
      limits,
      deadlines,
      firstUse: true,
      signal,
    });
    await keepRunPins(starter.state, name, server, examined.pins, { onlyIfNew: true, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (starter.policy.observe === true) return served(name, server, planned, config);
    starter.logger.error(
      { server: name },
      `the first use failed: ${error instanceof Error ? error.message : String(error)}`,
    );
    return served(name, server, { kind: "failed", error }, config);
  }
  const kept = withVariables((await findRunServer(starter.state, name)) ?? server, server.spawn.inheritEnv ?? []);
  return served(name, kept, { ...(await planRun(name, kept, config)), firstUse: true }, config);
}

function served(name: string, server: StdioServer, planned: PlannedServer, config: GatewayConfig): ServedServers {
  return { policies: [policyOf(name, server, config)], planned: new Map([[name, planned]]) };
}
