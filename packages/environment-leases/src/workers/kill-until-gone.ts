import { setTimeout as wait } from "node:timers/promises";
import { LeaseError } from "../errors.js";

const pauseMs = 10;

/**
 * Sends SIGKILL to what `find` gives, again and again until it gives nothing: what is being forked is seen in the next round.
 * Does nothing where there is no /proc to find in.
 * @throws {LeaseError} `CLEANUP_UNCONFIRMED` when something is still there after `timeoutMs`.
 */
export async function killUntilGone(
  worker: string,
  find: () => readonly number[] | undefined,
  timeoutMs: number,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const living = find() ?? [];
    if (living.length === 0) return;
    for (const pid of living) tryKill(pid);
    if (performance.now() >= end)
      throw new LeaseError("CLEANUP_UNCONFIRMED", `processes of ${worker} do not go away within ${timeoutMs} ms`);
    await wait(pauseMs);
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended meanwhile, or it changed its user and is not ours to kill: then the next round still sees it.
  }
}
