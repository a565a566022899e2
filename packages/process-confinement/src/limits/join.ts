import { existsSync } from "node:fs";
import { quote } from "../plan/start-script.js";
import type { LimitPlan } from "./plan.js";
import { isWholeBlocks, type Rlimits, ulimitCommands } from "./rlimits.js";

/** Exit status of a shell that could not join a group or set a limit: nothing was executed then. */
export const joinFailed = 125;

/**
 * The beginning of a line for a shell: it enters the groups, sets the rlimits and becomes the command that follows, so that no
 * process of the sandbox ever runs without them. Joining from the host, by number, would let it run unbounded until the host
 * comes to it.
 */
export function joinLine({ outside, prlimit }: LimitPlan, groups: readonly string[]): string {
  const steps = [...groups.map(enter), ...ulimitCommands(outside)];
  return [inOrder(steps), "exec", ...exactFileSize(outside, prlimit)].join(" ");
}

/**
 * Goes before the first process inside, whoever speaks the handshake; descriptors pass through. Sets what bubblewrap itself
 * would trip over. Needs `/bin/sh` inside; empty for most limits.
 */
export function innerPrefix({ inside, prlimit }: LimitPlan): readonly string[] {
  const steps = ulimitCommands(inside);
  const shell = steps.length === 0 ? [] : ["/bin/sh", "-c", `${inOrder(steps)} exec "$@"`, "sh"];
  return [...shell, ...exactFileSize(inside, prlimit)];
}

/** Commands of a shell, each of which must succeed. */
export function inOrder(steps: readonly string[]): string {
  return steps.map((step) => `${step} || exit ${joinFailed};`).join(" ");
}

// Moving a whole process waits until every processor has passed a point of rest: 10 ms, 100 under load. A single thread
// that moves itself does not, and the shell is one; only version 1 lets it (kernel/cgroup/cgroup.c, cgroup_procs_write_start).
function enter(group: string): string {
  return existsSync(`${group}/tasks`)
    ? `echo 0 >${quote(`${group}/tasks`)}`
    : `echo $$ >${quote(`${group}/cgroup.procs`)}`;
}

// A shell counts in blocks of 512 bytes; `prlimit` says any size, for one more exec.
function exactFileSize({ fileBytes }: Rlimits, prlimit: string | undefined): readonly string[] {
  if (fileBytes === undefined || isWholeBlocks(fileBytes) || prlimit === undefined) return [];
  return [prlimit, `--fsize=${fileBytes}`, "--"];
}
