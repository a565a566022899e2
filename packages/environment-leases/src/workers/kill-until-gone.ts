import { setTimeout as wait } from "node:timers/promises";
import { LeaseError } from "../errors.js";

/**
 * How long the end of a worker is waited for, from the first SIGKILL: on a machine that is very busy, or with little of its
 * processor time granted, processes take seconds to end. Less than the default of `destroyMs`, so that leases are told what is left.
 */
const endMs = 20_000;

const firstPauseMs = 5;
const longestPauseMs = 200;

/** When what is killed from now on has to be gone. */
export const endAtLatest = (): number => performance.now() + endMs;

/** Tries at least once, then less and less often, until it succeeds: false when it did not until then. */
export async function becomesTrue(
  attempt: () => boolean | Promise<boolean>,
  endAt: number = endAtLatest(),
): Promise<boolean> {
  for (let pauseMs = firstPauseMs; !(await attempt()); pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    if (performance.now() >= endAt) return false;
    await wait(pauseMs);
  }
  return true;
}

/**
 * Sends SIGKILL to what `find` gives, again and again until it gives nothing: what is being forked is seen in the next round.
 * Does nothing where there is no /proc to find in.
 * @throws {LeaseError} `CLEANUP_UNCONFIRMED` when something is still there then.
 */
export async function killUntilGone(
  worker: string,
  find: () => readonly number[] | undefined,
  endAt: number = endAtLatest(),
): Promise<void> {
  const isGone = await becomesTrue(() => {
    const living = find() ?? [];
    for (const pid of living) tryKill(pid);
    return living.length === 0;
  }, endAt);
  if (!isGone)
    throw new LeaseError("CLEANUP_UNCONFIRMED", `processes of ${worker} do not go away within ${endMs} ms of SIGKILL`);
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended meanwhile, or it changed its user and is not ours to kill: then the next round still sees it.
  }
}
