import { isAttestationError, type Measurer, measureLaunch } from "@berth/spawn-attestation";
import type { CatalogFile } from "../catalog-file.js";
import type { GatewayConfig } from "../config.js";
import { planServer } from "../plan-servers.js";
import type { Check } from "./check.js";
import { desktopPath, findProgram } from "./find-program.js";

/** Each server of a catalog: what it lacks, whether it is pinned, whether it is what was pinned. Nothing is started. */
export async function checkServers(
  file: CatalogFile,
  config: GatewayConfig,
  measurer: Measurer,
  signal: AbortSignal,
): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [name, server] of file.catalog.servers) {
    const title = `server ${name}`;
    if (server.transport !== "stdio") {
      const message = `is a ${server.transport} server, and this version serves stdio servers only`;
      checks.push({ name: title, status: "warn", message, advice: "connect the client to it directly" });
      continue;
    }
    const plan = await planServer(server, { directory: file.directory, variables: process.env, config });
    if (!plan.ok) {
      const advice = "set what is missing where the gateway starts, or change servers.NAME.spawn.env";
      checks.push(...plan.problems.map((message) => ({ name: title, status: "fail" as const, message, advice })));
    } else if (plan.planned.kind === "stdio") {
      checks.push(await checkLaunch(title, plan.planned.description, file.path, name, measurer, signal));
      checks.push(...(await checkDesktopCommand(title, server.spawn.command)));
    }
  }
  return checks;
}

async function checkLaunch(
  title: string,
  description: Parameters<typeof measureLaunch>[0],
  path: string,
  name: string,
  measurer: Measurer,
  signal: AbortSignal,
): Promise<Check> {
  const pin = `berth-gateway pin --catalog ${path} --server ${name}`;
  try {
    const { digest } = await measureLaunch(
      { ...description, digest: undefined, interpreter: undefined },
      { measurer, signal },
    );
    const pinned = description.digest;
    if (pinned === undefined)
      return { name: title, status: "warn", message: "is not pinned, so it is refused", advice: pin };
    if (pinned.split(":")[0] !== digest.split(":")[0]) {
      return { name: title, status: "ok", message: `is pinned by ${pinned}, which is compared when it starts` };
    }
    if (pinned === digest) return { name: title, status: "ok", message: "is what was pinned" };
    return { name: title, status: "warn", message: `changed since it was pinned, so it is refused`, advice: pin };
  } catch (error) {
    signal.throwIfAborted();
    if (!isAttestationError(error)) throw error;
    return {
      name: title,
      status: "warn",
      message: `is refused (${error.code}): ${error.message}`,
      advice: error.advice,
    };
  }
}

async function checkDesktopCommand(title: string, command: string): Promise<Check[]> {
  if (command.includes("/") || (await findProgram(command, desktopPath)) !== undefined) return [];
  const found = await findProgram(command, process.env["PATH"]);
  if (found === undefined) return [];
  const message = `${command} is not on the PATH of programs started from a desktop`;
  return [{ name: title, status: "warn", message, advice: `write ${found} as its command` }];
}
