import { setTimeout as wait } from "node:timers/promises";
import { LeaseError } from "../errors.js";
import { findMarked } from "../workers/process-marks.js";

const rounds = 200;
const pauseMs = 10;

/**
 * Kills every process that carries the mark, until none is left. Does nothing where there is no /proc.
 * @throws {LeaseError} `CLEANUP_UNCONFIRMED` when some do not go away.
 */
export async function killMarked(mark: string): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const living = findMarked(mark) ?? [];
    if (living.length === 0) return;
    for (const pid of living) tryKill(pid);
    await wait(pauseMs);
  }
  throw new LeaseError("CLEANUP_UNCONFIRMED", `processes of ${mark} do not go away`);
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended meanwhile, or it changed its user and is not ours to kill: then the next round still sees it.
  }
}
