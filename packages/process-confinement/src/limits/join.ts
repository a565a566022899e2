import { existsSync } from "node:fs";
import type { LimitPlan } from "./plan.js";
import { isWholeBlocks, type Rlimits, ulimitCommands } from "./rlimits.js";

/** Exit status of a prefix when a group could not be joined or a limit not set: nothing was executed then. */
export const joinFailed = 125;

/**
 * Goes before bubblewrap: the shell enters the groups, sets the rlimits and becomes what follows, so that no process of the
 * sandbox ever runs without them. Joining from the host, by number, would let it run unbounded until the host comes to it.
 * Empty when there is nothing to enter, to set or to do first.
 * @param first Commands of the shell, each of which may fail; what they start is in no group.
 */
export function joinPrefix(
  { outside, prlimit }: LimitPlan,
  groups: readonly string[],
  first: readonly string[] = [],
): readonly string[] {
  const steps = [
    ...first,
    ...groups.map((group, index) => enter(group, `\${${index + 1}}`)),
    ...ulimitCommands(outside),
  ];
  return [...shell(steps, groups), ...exactFileSize(outside, prlimit)];
}

/**
 * Goes before the first process inside, whoever speaks the handshake; descriptors pass through. Sets what bubblewrap itself
 * would trip over. Needs `/bin/sh` inside; empty for most limits.
 */
export function innerPrefix({ inside, prlimit }: LimitPlan): readonly string[] {
  return [...shell(ulimitCommands(inside), []), ...exactFileSize(inside, prlimit)];
}

// Moving a whole process waits until every processor has passed a point of rest: 10 ms, 100 under load. A single thread
// that moves itself does not, and the shell is one; only version 1 lets it (kernel/cgroup/cgroup.c, cgroup_procs_write_start).
function enter(group: string, folder: string): string {
  return existsSync(`${group}/tasks`) ? `echo 0 >"${folder}/tasks"` : `echo $$ >"${folder}/cgroup.procs"`;
}

function shell(steps: readonly string[], groups: readonly string[]): readonly string[] {
  if (steps.length === 0) return [];
  const script = steps.map((step) => `${step} || exit ${joinFailed}; `).join("");
  return ["/bin/sh", "-c", `${script}shift ${groups.length}; exec "$@"`, "sh", ...groups];
}

// A shell counts in blocks of 512 bytes; `prlimit` says any size, for one more exec.
function exactFileSize({ fileBytes }: Rlimits, prlimit: string | undefined): readonly string[] {
  if (fileBytes === undefined || isWholeBlocks(fileBytes) || prlimit === undefined) return [];
  return [prlimit, `--fsize=${fileBytes}`, "--"];
}
