import type { Check } from "@berth/command-line/doctor";
import {
  decide,
  isAttestationError,
  type Measurer,
  measureLaunch,
  type SpawnDescription,
} from "@berth/spawn-attestation";
import { callerEnvironment } from "../caller-environment.js";
import type { CatalogFile } from "../catalog-file.js";
import type { GatewayConfig } from "../config.js";
import { planServer } from "../plan-servers.js";
import { shellQuote } from "../shell-quote.js";
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
    const plan = await planServer(server, {
      directory: file.directory,
      variables: callerEnvironment(process.env),
      config,
    });
    if (!plan.ok) {
      const advice = "set what is missing where the gateway starts, or change servers.NAME.spawn.env";
      checks.push(...plan.problems.map((message) => ({ name: title, status: "fail" as const, message, advice })));
    } else if (plan.planned.kind === "stdio") {
      checks.push(await checkLaunch(title, plan.planned.description, pinLine(file, name), measurer, signal));
      checks.push(...(await checkDesktopCommand(title, server.spawn.command)));
    }
  }
  return checks;
}

function pinLine(file: CatalogFile, name: string): string {
  return shellQuote(["berth-gateway", "pin", "--catalog", file.path, "--server", name]);
}

async function checkLaunch(
  title: string,
  description: SpawnDescription,
  pinLine: string,
  measurer: Measurer,
  signal: AbortSignal,
): Promise<Check> {
  const measured = await measureLaunch(description, { measurer, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    if (isAttestationError(error)) return error;
    throw error;
  });
  const { verdict, reason, message, advice } = decide(measured, description, { allowUnmeasuredSpawn: false });
  if (verdict === "spawn") return { name: title, status: "ok", message };
  const isForPin = reason === "NOT_PINNED" || reason === "DIGEST_MISMATCH" || reason === "INTERPRETER_CHANGED";
  return {
    name: title,
    status: "warn",
    message: `is refused (${reason}): ${message}`,
    advice: isForPin ? pinLine : advice,
  };
}

async function checkDesktopCommand(title: string, command: string): Promise<Check[]> {
  if (command.includes("/") || (await findProgram(command, desktopPath)) !== undefined) return [];
  const found = await findProgram(command, callerEnvironment(process.env)["PATH"]);
  if (found === undefined) return [];
  const message = `${command} is not on the PATH of programs started from a desktop`;
  return [{ name: title, status: "warn", message, advice: `write ${found} as its command` }];
}
