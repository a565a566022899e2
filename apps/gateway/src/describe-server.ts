import { resolve } from "node:path";
import { resolveEnvironment, type StdioServer } from "@berth/mcp-relay";
import type { SpawnDescription } from "@berth/spawn-attestation";
import { defaultEnvironmentNames, listedEnvironment } from "@berth/stdio-transport";
import type { GatewayConfig } from "./config.js";

/** Where an entry is read from and with what. */
export interface ServerSurroundings {
  /** The catalog's folder. */
  readonly directory: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly guard: GatewayConfig["attestation"]["guard"];
}

/** A server, ready to be measured; or the variables that it lacks, one sentence each. */
export type DescribedServer =
  | { readonly ok: true; readonly description: SpawnDescription; readonly environmentNames: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Turns a catalog entry into what the measuring package takes: paths absolute, references resolved, nothing inherited unnamed. */
export async function describeServer(server: StdioServer, surroundings: ServerSurroundings): Promise<DescribedServer> {
  const { directory, variables, guard } = surroundings;
  const { spawn } = server;
  const resolved = await resolveEnvironment(spawn, { directory, variables });
  if (!resolved.ok) return { ok: false, problems: resolved.problems.map(({ message }) => message) };
  const env = listedEnvironment(variables, [], resolved.variables);
  const description: SpawnDescription = {
    command: spawn.command,
    args: spawn.args ?? [],
    env,
    cwd: resolve(directory, spawn.cwd ?? "."),
    measureTarget: spawn.measureTarget,
    measureIgnore: spawn.measureIgnore,
    allowTargetOutsideArgv: spawn.allowTargetOutsideArgv,
    guard: spawn.guard ?? guard,
    digest: spawn.digest,
    interpreter: spawn.interpreter,
  };
  const own = Object.keys(env).filter((name) => !defaultEnvironmentNames.includes(name) || name in (spawn.env ?? {}));
  return { ok: true, description, environmentNames: own.sort() };
}
