import type { Freezer } from "../limits/freezer.js";
import { holdStill } from "./hold-still.js";
import { type DeletedBytes, measureDeleted } from "./measure-deleted.js";
import { areSame, listThreads, someRun, stoodStill } from "./threads.js";

/**
 * As `measureDeleted`, at one moment. While processes run, a descriptor can go past the look: to a child that is born after the
 * children were listed, or to a number that was looked at already. So where anything ran meanwhile, it is done once more while
 * nothing does.
 */
export async function lookAtOpenFiles(
  init: number,
  freezer: Freezer | undefined,
  signal: AbortSignal,
): Promise<DeletedBytes | undefined> {
  if (freezer === undefined) return measureDeleted(init, signal);
  const before = await listThreads(init, signal);
  if (!someRun(before)) {
    const deleted = await measureDeleted(init, signal);
    if (stoodStill(before, await listThreads(init, signal))) return deleted;
  }
  return holdStill(freezer, signal, (standsStill, bound) => measureHeld(init, standsStill, bound));
}

/** Who is in the kernel while the others stand still changes nothing that was looked at, unless it gives birth there. */
export async function measureHeld(
  init: number,
  standsStill: boolean,
  signal: AbortSignal,
): Promise<DeletedBytes | undefined> {
  if (standsStill) return measureDeleted(init, signal);
  const before = await listThreads(init, signal);
  const deleted = await measureDeleted(init, signal);
  if (areSame(before, await listThreads(init, signal))) return deleted;
  throw new Error("its processes do not stand still");
}
