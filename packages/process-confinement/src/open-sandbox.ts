import { presentSandbox } from "./end/present.js";
import { readSandboxOptions } from "./reading/read-options.js";
import type { Sandbox, SandboxOptions } from "./sandbox.js";
import { type ConfinementHost, thisHost } from "./start/host.js";
import type { LauncherStock } from "./start/launcher-stock.js";
import { layOut } from "./start/lay-out.js";
import { letGo } from "./start/let-go.js";
import { raiseSandbox } from "./start/raise-sandbox.js";
import { refuseHere } from "./start/refuse-here.js";
import { boundStart } from "./start/start-bound.js";

/**
 * Starts a command in a sandbox. Resolves when it was executed (handshake `shell`) or let go (handshake `command`).
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID`, `POLICY_INVALID`, `PATH_NOT_FOUND`, `INTERPRETER_NOT_FOUND`,
 * `PLATFORM_UNSUPPORTED`, `SPAWN_FROM_WORKER`, `CONFINEMENT_UNAVAILABLE`, `LIMIT_NOT_ENFORCEABLE`, `SANDBOX_NOT_STARTED`,
 * `START_TIMEOUT`. Also the signal's reason, and what `record` threw.
 */
export function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  return openSandboxOn(thisHost(), options);
}

/** As `openSandbox`, on a machine that is passed in. */
export async function openSandboxOn(
  host: ConfinementHost,
  options: SandboxOptions,
  stock?: LauncherStock,
): Promise<Sandbox> {
  options.signal?.throwIfAborted();
  const tools = refuseHere(host);
  const terms = readSandboxOptions(options);
  const layout = layOut(host, tools, terms);
  const bound = boundStart(terms.startTimeoutMs, terms.signal);
  try {
    const raised = await raiseSandbox(host, layout, { bound, stock });
    await letGo(raised, terms, bound);
    return presentSandbox(raised, terms);
  } finally {
    bound.release();
  }
}
