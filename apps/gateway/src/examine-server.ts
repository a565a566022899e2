import { inspectServer, type ServerInspection, type ServerPins, type ServerWaits } from "@berth/mcp-relay";
import {
  decide,
  describeLaunch,
  isAttestationError,
  type LaunchReport,
  type SpawnDescription,
} from "@berth/spawn-attestation";
import { exitEntry } from "./log-entries.js";
import { asRefusal, openServer, type ServerStarter } from "./open-server.js";
import { version } from "./version.js";

/** A server as it is now: what was measured, and what that very program says of itself. */
export interface Examined {
  readonly launch: LaunchReport;
  readonly inspection: ServerInspection;
  /** What would be accepted. */
  readonly pins: ServerPins;
}

/** What to examine. */
export interface ExamineOptions {
  readonly name: string;
  readonly description: SpawnDescription;
  readonly environmentNames: readonly string[];
  readonly firstUse?: boolean | undefined;
  readonly limits: { readonly maxFrameBytes?: number | undefined; readonly maxQueuedBytes?: number | undefined };
  readonly deadlines: ServerWaits | undefined;
  readonly signal: AbortSignal;
  /** Ends the measuring, where that is not for `signal` to do. */
  readonly measureSignal?: AbortSignal | undefined;
}

/** Measures a server whatever is pinned, then starts exactly what was measured and asks it for everything that can be pinned. */
export async function examineServer(
  starter: Omit<ServerStarter, "servers">,
  options: ExamineOptions,
): Promise<Examined> {
  const { name, environmentNames, firstUse, limits, signal } = options;
  const unpinned = { ...options.description, digest: undefined, interpreter: undefined };
  const { measurer } = starter;
  const measuring = { measurer, scratch: starter.state.scratch, signal: options.measureSignal ?? signal };
  const launch = await describeLaunch(unpinned, measuring).catch(async (error: unknown) => {
    await recordRefusal(starter, name, unpinned, error);
    throw asRefusal(starter, name, error);
  });
  const description = { ...unpinned, ...launch.pin };
  const planned = { kind: "stdio" as const, description, environmentNames, limits, firstUse };
  const connection = await openServer({ ...starter, servers: new Map([[name, planned]]) }, name, signal);
  try {
    const inspection = await inspectServer(connection, {
      server: name,
      clientInfo: { name: "berth-gateway", version },
      startMs: options.deadlines?.startMs,
      listMs: options.deadlines?.listMs,
      signal,
    });
    return { launch, inspection, pins: pinsOf(launch.pin, inspection) };
  } finally {
    await connection.close();
    const { evidence, containment } = connection;
    const exit = await connection.exited;
    const stderrBytes = connection.stderrBytes?.();
    const entry = exitEntry({ server: name, evidence, reason: "EXAMINED", exit, stderrBytes });
    await starter.log.append({ ...entry, containment });
  }
}

/** What cannot be measured is refused like anything else; under `observe` it is let through later, and recorded then. */
async function recordRefusal(
  { log, policy }: Omit<ServerStarter, "servers">,
  name: string,
  description: SpawnDescription,
  error: unknown,
): Promise<void> {
  if (!isAttestationError(error) || policy.observe === true) return;
  await log.recordDecision(name, decide(error, description, policy));
}

function pinsOf(
  { digest, interpreter }: LaunchReport["pin"],
  { initialize, tools, prompts, resourceTemplates }: ServerInspection,
): ServerPins {
  return {
    digest,
    interpreter,
    tools: byName(tools),
    prompts: byName(prompts),
    resourceTemplates: byName(resourceTemplates),
    initialize,
  };
}

function byName(definitions: ServerInspection["tools"]): ServerPins["tools"] {
  return new Map(definitions.map(({ name, digest, definition }) => [name, { digest, definition }]));
}
