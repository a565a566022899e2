import type { CatalogServer, ServerPolicy } from "@berth/mcp-relay";
import type { CatalogFile } from "./catalog-file.js";
import type { GatewayConfig } from "./config.js";
import { describeServer } from "./describe-server.js";
import { GatewayError } from "./errors.js";
import type { PlannedServer } from "./open-server.js";

/**
 * Everything that a catalog may start, with every reference resolved.
 * @throws {GatewayError} `ENVIRONMENT_UNRESOLVED` with all that is missing, in all servers.
 */
export async function planServers(
  { catalog, directory }: CatalogFile,
  config: GatewayConfig,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<ReadonlyMap<string, PlannedServer>> {
  const planned = new Map<string, PlannedServer>();
  const lines: string[] = [];
  for (const [name, server] of catalog.servers) {
    const plan = await planServer(server, { directory, variables, config });
    if (plan.ok) planned.set(name, plan.planned);
    else lines.push(...plan.problems.map((problem) => `servers.${name}: ${problem}`));
  }
  if (lines.length > 0)
    throw new GatewayError("ENVIRONMENT_UNRESOLVED", "the environment of a server is incomplete", { lines });
  return planned;
}

/** One server, or the sentences that say what its environment lacks. */
export async function planServer(
  server: CatalogServer,
  surroundings: {
    readonly directory: string;
    readonly variables: Readonly<Record<string, string | undefined>>;
    readonly config: GatewayConfig;
  },
): Promise<
  { readonly ok: true; readonly planned: PlannedServer } | { readonly ok: false; readonly problems: readonly string[] }
> {
  if (server.transport !== "stdio") return { ok: true, planned: { kind: "network", transport: server.transport } };
  const { directory, variables, config } = surroundings;
  const described = await describeServer(server, { directory, variables, guard: config.attestation.guard });
  if (!described.ok) return described;
  const { description, environmentNames } = described;
  const limits = { ...config.limits, ...server.limits };
  return { ok: true, planned: { kind: "stdio", description, environmentNames, limits } };
}

/** What the relay has to know about an entry, with the configuration's defaults. */
export function policyOf(name: string, server: CatalogServer, config: GatewayConfig): ServerPolicy {
  const { onBadLine, deadlines, tools, pinnedInitialize } = server;
  return { name, onBadLine, tools, pinnedInitialize, deadlines: { ...config.deadlines, ...deadlines } };
}
