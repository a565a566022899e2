import { findMarked } from "../workers/find-processes.js";
import { killUntilGone } from "../workers/kill-until-gone.js";

/**
 * Kills every process that carries the mark, until none is left.
 * @throws {LeaseError} `CLEANUP_UNCONFIRMED` when some do not go away.
 */
export function killMarked(mark: string, endAt?: number): Promise<void> {
  return killUntilGone(mark, () => findMarked(mark), endAt);
}
