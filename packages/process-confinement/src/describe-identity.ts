import { ConfinementError } from "./errors.js";
import { childrenOf, type ProcessMark, readBootId, readPidNamespace, readStat } from "./process-identity.js";
import type { SandboxIdentity } from "./sandbox.js";

/**
 * How a sandbox that waits for the host's word is found again.
 * @throws {ConfinementError} `SANDBOX_NOT_STARTED` when it is gone already, `PLATFORM_UNSUPPORTED` without /proc.
 */
export function describeIdentity(name: string, outer: ProcessMark, init: number): SandboxIdentity {
  const bootId = readBootId();
  const pidNamespace = readPidNamespace(init);
  if (bootId === undefined) throw new ConfinementError("PLATFORM_UNSUPPORTED", "sandboxes need /proc to be mounted");
  if (pidNamespace === undefined || pidNamespace === readPidNamespace("self"))
    throw new ConfinementError("SANDBOX_NOT_STARTED", "the sandbox has no pid namespace of its own, or ended at once");
  return { name, bootId, outer, init: mark(init), pidNamespace, controlGroups: [] };
}

/** The command of a sandbox whose process 1 is bubblewrap's own. */
export function findCommand(init: ProcessMark): ProcessMark {
  const [command] = childrenOf(init.pid);
  return mark(command);
}

function mark(pid: number | undefined): ProcessMark {
  const stat = pid === undefined ? undefined : readStat(pid);
  if (stat === undefined) throw new ConfinementError("SANDBOX_NOT_STARTED", "the sandbox ended while it was started");
  return { pid: stat.pid, startTime: stat.startTime };
}
