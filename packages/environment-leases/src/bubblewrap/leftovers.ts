import {
  endSandbox,
  findSandbox,
  isConfinementError,
  type SandboxIdentity,
  type SandboxPresence,
} from "@berth/process-confinement";
import { bootId, pidNamespace } from "../process-identity.js";
import { findMounted } from "../workers/find-processes.js";
import { becomesTrue, endAtLatest, killUntilGone } from "../workers/kill-until-gone.js";
import type { WorkerFolder } from "../workers/worker-folder.js";
import { findGroups } from "./find-groups.js";
import { readIdentity } from "./saved-identity.js";

/** How long one attempt waits for processes, and then for control groups. */
const attemptMs = 2_000;

/** Whether anything of a sandbox runs that another process may have started. */
export async function presenceOf(folder: WorkerFolder): Promise<"yes" | "no" | "unknown"> {
  const identity = await identityOf(folder);
  // A record that cannot be read says that there was a sandbox, and not which.
  if (identity === undefined) return "unknown";
  const presence = tryFind(identity);
  if (presence !== "gone") return presence === "running" ? "yes" : "unknown";
  const mounted = findMounted(folder.name);
  if (mounted === undefined) return "unknown";
  return mounted.length > 0 ? "yes" : "no";
}

/** Ends what runs of a sandbox that another process may have started. */
export async function killLeftovers(folder: WorkerFolder): Promise<void> {
  const endAt = endAtLatest();
  const identity = await identityOf(folder);
  // What cannot be ours names nobody; what runs is then found by its mounts, and `presenceOf` stays in doubt.
  if (identity !== undefined && tryFind(identity) !== "unknown") {
    await becomesTrue(async () => (await endSandbox(identity, { timeoutMs: attemptMs })) !== "running", endAt);
  }
  await killUntilGone(folder.name, () => findMounted(folder.name), endAt);
}

/** Undefined for a record that cannot be read. */
async function identityOf(folder: WorkerFolder): Promise<SandboxIdentity | undefined> {
  const saved = await folder.readIdentity();
  return saved === undefined ? unrecordedIdentity(folder.name) : readIdentity(saved);
}

/** A number above all that the kernel gives (`PID_MAX_LIMIT`, proc(5)). */
const nobody = { pid: 2 ** 22, startTime: 0 };

/**
 * Of a sandbox whose host died while it was set up. What was started of it ends by itself, with its host, unless it is in its
 * control groups, which were made first and which nobody else removes.
 */
async function unrecordedIdentity(name: string): Promise<SandboxIdentity> {
  return {
    name,
    bootId: bootId() ?? "",
    ...{ outer: nobody, init: nobody, pidNamespace: 0 },
    hostPidNamespace: Number(pidNamespace()),
    controlGroups: await findGroups(name),
  };
}

/** A record whose members could not be ours says no more than one that cannot be read. */
function tryFind(identity: SandboxIdentity): SandboxPresence {
  try {
    return findSandbox(identity);
  } catch (error) {
    if (isConfinementError(error)) return "unknown";
    throw error;
  }
}
