import { existsSync } from "node:fs";
import {
  isAlive,
  lookFor,
  type ProcessMark,
  readBootId,
  readPidNamespace,
  signalProcess,
} from "./identity/process-identity.js";
import { readIdentity } from "./identity/read-identity.js";
import { type ControlGroups, recordedControlGroups } from "./limits/control-groups.js";
import { createReader } from "./reading/read-values.js";
import type { SandboxIdentity, SandboxPresence } from "./sandbox.js";
import { becomesTrue } from "./waits/within.js";

/**
 * Whether anything of a recorded sandbox is left: its processes, or a control group with a process. A number that was given
 * to another process since is not taken for it. `unknown` where nothing can be said: from another pid namespace, or when the
 * processes of other users are hidden.
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID` for a record that cannot be read.
 */
export function findSandbox(identity: SandboxIdentity): SandboxPresence {
  const known = readIdentity(identity);
  return look(known, recordedControlGroups(known.controlGroups, known.name));
}

/** What bounds `endSandbox`. */
export interface EndSandboxOptions {
  /** From SIGKILL until the absence must be seen: 1 to 600_000 milliseconds. Default 5_000. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Ends a recorded sandbox with SIGKILL and removes its control groups, for a host that did not start it. Never signals a
 * process that only got its number.
 * @returns `gone` once its absence was seen; `running` when it was still there at the end of the time.
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID` for a record or an option that cannot be read. Also the signal's reason.
 */
export async function endSandbox(identity: SandboxIdentity, options: EndSandboxOptions = {}): Promise<SandboxPresence> {
  const { timeoutMs, signal } = readEndOptions(options);
  signal?.throwIfAborted();
  const known = readIdentity(identity);
  const groups = recordedControlGroups(known.controlGroups, known.name);
  if (look(known, groups) === "running") {
    groups.freezer?.thaw();
    // Stopped, the outer bubblewrap cannot tell its own host that the command ended by itself. It is killed last: while it
    // waits for process 1, nobody else gets that number.
    signalProcess(known.outer, "SIGSTOP");
    if (readPidNamespace(known.init.pid) === known.pidNamespace) signalProcess(known.init, "SIGKILL");
    signalProcess(known.outer, "SIGKILL");
    await becomesTrue(() => !isAlive(known.init) && !isAlive(known.outer), timeoutMs, signal);
  }
  const presence = lookAtProcesses(known);
  if (presence !== "gone") return presence;
  return (await groups.end({ timeoutMs, signal })) ? "gone" : look(known, groups);
}

const defaultEndMs = 5_000;
const endRange = { least: 1, most: 600_000 };

function readEndOptions(options: EndSandboxOptions): EndSandboxOptions & { readonly timeoutMs: number } {
  const reader = createReader("SANDBOX_OPTION_INVALID");
  reader.refuseUnknown("", reader.object("options", options), ["timeoutMs", "signal"]);
  const timeoutMs = reader.integer("timeoutMs", options.timeoutMs ?? defaultEndMs, endRange);
  return { timeoutMs, signal: options.signal };
}

function look(identity: SandboxIdentity, groups: ControlGroups): SandboxPresence {
  const presence = lookAtProcesses(identity);
  return presence === "gone" && groups.isPopulated() ? "running" : presence;
}

function lookAtProcesses(identity: SandboxIdentity): SandboxPresence {
  const bootId = readBootId();
  if (bootId === undefined || !existsSync("/proc/self/stat")) return "unknown";
  if (bootId !== identity.bootId) return "gone";
  if (readPidNamespace("self") !== identity.hostPidNamespace) return "unknown";
  const marks: readonly ProcessMark[] = [identity.init, identity.outer];
  const seen = marks.map(lookFor);
  // The kernel lets process 1 end only after every other process of its namespace has ended.
  return seen.find((presence) => presence === "running") ?? seen.find((presence) => presence === "unknown") ?? "gone";
}
