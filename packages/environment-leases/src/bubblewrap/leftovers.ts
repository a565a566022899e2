import {
  endSandbox,
  findSandbox,
  isConfinementError,
  type SandboxIdentity,
  type SandboxPresence,
} from "@berth/process-confinement";
import { findMounted } from "../workers/find-processes.js";
import { becomesTrue, endAtLatest, killUntilGone } from "../workers/kill-until-gone.js";
import type { WorkerFolder } from "../workers/worker-folder.js";
import { readIdentity } from "./saved-identity.js";

/** How long one attempt waits for processes, and then for control groups. */
const attemptMs = 2_000;

/** Whether anything of a sandbox runs that another process may have started. */
export async function presenceOf(folder: WorkerFolder): Promise<"yes" | "no" | "unknown"> {
  const saved = await folder.readIdentity();
  const identity = readIdentity(saved);
  // A record that cannot be read says that there was a sandbox, and not which.
  if (saved !== undefined && identity === undefined) return "unknown";
  const presence = identity === undefined ? "gone" : tryFind(identity);
  if (presence !== "gone") return presence === "running" ? "yes" : "unknown";
  const mounted = findMounted(folder.name);
  if (mounted === undefined) return "unknown";
  return mounted.length > 0 ? "yes" : "no";
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

/** Ends what runs of a sandbox that another process may have started. */
export async function killLeftovers(folder: WorkerFolder): Promise<void> {
  const endAt = endAtLatest();
  const identity = readIdentity(await folder.readIdentity());
  // What cannot be ours names nobody; what runs is then found by its mounts, and `presenceOf` stays in doubt.
  if (identity !== undefined && tryFind(identity) !== "unknown") {
    await becomesTrue(async () => (await endSandbox(identity, { timeoutMs: attemptMs })) !== "running", endAt);
  }
  // Without an identity its host died before the command was let go: it ends by itself, and this hastens it.
  await killUntilGone(folder.name, () => findMounted(folder.name), endAt);
}
