import { createLogger } from "@berth/command-line";
import type { StdioServer } from "@berth/mcp-relay";
import { adviseAbout, pinCommandLine } from "../advice.js";
import { callerEnvironment } from "../caller-environment.js";
import { type GatewayConfig, loadConfig } from "../config.js";
import { GatewayError } from "../errors.js";
import { examineServer } from "../examine-server.js";
import { type PlannedServer, ServerRefusal, type ServerStarter } from "../open-server.js";
import { planServer, policyOf } from "../plan-servers.js";
import { preparePlugins } from "../plugins/prepare-plugins.js";
import type { PrepareSignals } from "../prepare-for.js";
import { type ServedServers, serveStdio } from "../relay-session.js";
import {
  findRunServer,
  keepRunPins,
  newRunServer,
  type RunCommand,
  runName,
  withIgnored,
  withVariables,
} from "../run-catalog.js";
import { openStateFolder } from "../state-folder.js";

/** What the command line says. */
export interface RunOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly string[];
  readonly measureIgnore: readonly string[];
  readonly config?: string;
  readonly state: string;
  readonly observe?: boolean;
}

/** Stands between a client and one server: pins it at its first use, refuses it when it changed. */
export async function runCommand(options: RunOptions): Promise<number> {
  const config = await loadConfig(options.config);
  const plugins = await preparePlugins(config);
  const command: RunCommand = { command: options.command, args: options.args, cwd: process.cwd() };
  const name = runName(command);
  const state = await openStateFolder(options.state);
  const held = await findRunServer(state, name);
  const asAsked = (entry: StdioServer): StdioServer =>
    withIgnored(withVariables(entry, options.env), options.measureIgnore);
  const server = asAsked(held ?? newRunServer(command, options.env));
  const planned = await planRun(name, server, config);
  const logger = await createLogger(config.log.level);
  const pinLine = pinCommandLine(command, options);
  return serveStdio({
    mode: "run",
    config,
    plugins,
    names: "plain",
    observe: options.observe === true,
    state,
    logger,
    serverNames: [name],
    opening: {},
    prepare: (starter, signals) => {
      if (held !== undefined) return Promise.resolve(served(name, server, planned, config));
      logger.info({ server: name }, "first use of this command line here: looking at the server");
      return firstUse(name, server, planned, config, starter, signals);
    },
    advise: (_server, reason) =>
      adviseAbout(reason, pinLine, "--measure-ignore GLOB before -- in the client's line and in this one"),
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
  { signal, exit }: PrepareSignals,
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
      // What cannot be measured is told also when the client is gone already: that is why there is no server.
      measureSignal: exit,
    });
    await keepRunPins(starter.state, name, server, examined.pins, { onlyIfNew: true, signal });
    starter.logger.info({ server: name, digest: examined.pins.digest }, "pinned at its first use");
  } catch (error) {
    if (!(error instanceof ServerRefusal)) signal.throwIfAborted();
    if (starter.policy.observe === true) return served(name, server, planned, config);
    starter.logger.error(
      { server: name },
      `the first use failed: ${error instanceof Error ? error.message : String(error)}`,
    );
    return served(name, server, { kind: "failed", error }, config);
  }
  const { inheritEnv = [], measureIgnore = [] } = server.spawn;
  const found = (await findRunServer(starter.state, name)) ?? server;
  const kept = withIgnored(withVariables(found, inheritEnv), measureIgnore);
  return served(name, kept, { ...(await planRun(name, kept, config)), firstUse: true }, config);
}

function served(name: string, server: StdioServer, planned: PlannedServer, config: GatewayConfig): ServedServers {
  return { policies: [policyOf(name, server, config)], planned: new Map([[name, planned]]) };
}
