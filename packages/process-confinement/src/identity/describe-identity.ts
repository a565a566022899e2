import { ConfinementError } from "../errors.js";
import type { SandboxIdentity } from "../sandbox.js";
import type { ToldInit } from "../start/status-stream.js";
import { childrenOf, type ProcessMark, readBootId, readPidNamespace, readStat } from "./process-identity.js";

/** What a sandbox that waits for the host's word is made of. */
export interface IdentityParts {
  readonly name: string;
  readonly outer: ProcessMark;
  readonly init: ToldInit;
  readonly controlGroups: readonly string[];
}

/**
 * How a sandbox is found again.
 * @throws {ConfinementError} `SANDBOX_NOT_STARTED` when it is gone already, `PLATFORM_UNSUPPORTED` without /proc.
 */
export function describeIdentity({ name, outer, init, controlGroups }: IdentityParts): SandboxIdentity {
  const bootId = readBootId();
  const hostPidNamespace = readPidNamespace("self");
  if (bootId === undefined || hostPidNamespace === undefined)
    throw new ConfinementError("PLATFORM_UNSUPPORTED", "sandboxes need /proc to be mounted");
  const { pid, pidNamespace } = init;
  if (readPidNamespace(pid) !== pidNamespace || pidNamespace === hostPidNamespace) throw goneAlready();
  return {
    name,
    bootId,
    outer: markRunning(outer.pid),
    init: markRunning(pid),
    hostPidNamespace,
    pidNamespace,
    controlGroups,
  };
}

/** The command of a sandbox whose process 1 is bubblewrap's own. */
export function findCommand(init: ProcessMark): ProcessMark {
  const [command] = childrenOf(init.pid);
  return markRunning(command);
}

function markRunning(pid: number | undefined): ProcessMark {
  const stat = pid === undefined ? undefined : readStat(pid);
  if (stat === undefined) throw goneAlready();
  return { pid: stat.pid, startTime: stat.startTime };
}

function goneAlready(): ConfinementError {
  return new ConfinementError("SANDBOX_NOT_STARTED", "the sandbox ended while it was started");
}
