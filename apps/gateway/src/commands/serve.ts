import { createLogger, type Logger } from "@berth/command-line";
import type { CatalogServer } from "@berth/mcp-relay";
import { adviseAbout } from "../advice.js";
import { callerEnvironment } from "../caller-environment.js";
import { loadCatalog } from "../catalog-file.js";
import { type GatewayConfig, loadConfig } from "../config.js";
import { GatewayError } from "../errors.js";
import { planServers, policyOf } from "../plan-servers.js";
import { preparePlugins } from "../plugins/prepare-plugins.js";
import { serveStdio } from "../relay-session.js";
import { shellQuote } from "../shell-quote.js";
import { openStateFolder } from "../state-folder.js";

/** What the command line says. */
export interface ServeOptions {
  readonly catalog: string;
  readonly config?: string;
  readonly state: string;
  readonly observe?: boolean;
  readonly stdio?: boolean;
}

/** Serves the servers of a catalog to one client. */
export async function serveCommand(options: ServeOptions): Promise<number> {
  if (options.stdio !== true) throw new GatewayError("USAGE", "say how to serve: --stdio is the way of this version");
  const config = await loadConfig(options.config);
  const plugins = await preparePlugins(config);
  const file = await loadCatalog(options.catalog);
  const { servers } = file.catalog;
  if (servers.size === 0)
    throw new GatewayError("CATALOG_INVALID", `the catalog ${file.path} holds no servers: see import`);
  const planned = await planServers(file, config, callerEnvironment(process.env));
  const state = await openStateFolder(options.state);
  const logger = await createLogger(config.log.level);
  const observe = options.observe === true;
  announce(logger, servers, config, observe, file.path);
  return serveStdio({
    mode: "serve",
    config,
    plugins,
    names: config.names,
    observe,
    state,
    logger,
    serverNames: [...servers.keys()],
    prepare: async () => ({ policies: [...servers].map(([name, server]) => policyOf(name, server, config)), planned }),
    opening: { catalog: file.path, catalogDigest: file.digest },
    advise: (server, reason) =>
      adviseAbout(
        reason,
        shellQuote(["berth-gateway", "pin", "--catalog", file.path, "--server", server]),
        `servers.${server}.spawn.measureIgnore in the catalog`,
      ),
  });
}

function announce(
  logger: Logger,
  servers: ReadonlyMap<string, CatalogServer>,
  config: GatewayConfig,
  observe: boolean,
  path: string,
): void {
  logger.info({ catalog: path, servers: servers.size, names: config.names }, "serving on standard input and output");
  if (config.attestation.allowUnmeasuredSpawn)
    logger.warn("attestation.allowUnmeasuredSpawn is set: servers that are not pinned are started");
  if (observe) logger.warn("--observe: what would be refused is let through, and recorded");
  for (const [name, server] of servers) {
    if (server.transport !== "stdio")
      logger.warn({ server: name }, `not served: this version has no ${server.transport}`);
    else if (server.spawn.digest === undefined) logger.warn({ server: name }, "not pinned: see `berth-gateway pin`");
  }
}
