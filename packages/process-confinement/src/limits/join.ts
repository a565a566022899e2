import type { LimitPlan } from "./plan.js";
import { isWholeBlocks, ulimitCommands } from "./rlimits.js";

/** Exit status of the prefix when a group could not be joined or a limit not set: nothing was executed then. */
export const joinFailed = 125;

/**
 * Goes before bubblewrap: the shell enters the groups, sets the rlimits and becomes what follows, so that no process of the
 * sandbox ever runs without them. 0.7 ms; empty when there is nothing to enter or to set. Joining from the host, by number,
 * would let the sandbox run unbounded until the host comes to it.
 */
export function joinPrefix({ rlimits, prlimit }: LimitPlan, groups: readonly string[]): readonly string[] {
  const steps = [...groups.map((_, index) => `echo $$ >"\${${index + 1}}/cgroup.procs"`), ...ulimitCommands(rlimits)];
  const exact = exactFileSize(rlimits.fileBytes, prlimit);
  if (steps.length === 0) return exact;
  // A crash must not start the machine's core handler with what the sandbox held.
  const script = [...steps, "ulimit -c 0"].map((step) => `${step} || exit ${joinFailed}; `).join("");
  return ["/bin/sh", "-c", `${script}shift ${groups.length}; exec "$@"`, "sh", ...groups, ...exact];
}

// A shell counts in blocks of 512 bytes; `prlimit` of util-linux costs 0.7 ms more, but says any size.
function exactFileSize(bytes: number | undefined, prlimit: string | undefined): readonly string[] {
  if (bytes === undefined || isWholeBlocks(bytes) || prlimit === undefined) return [];
  return [prlimit, `--fsize=${bytes}`, "--"];
}
