import type { Launched } from "./launch.js";
import { isAlive, markProcess, type ProcessMark, readStat, signalProcess } from "./process-identity.js";
import { becomesTrue, within } from "./within.js";

/** How long what waits inside may take to give up before bubblewrap is killed. */
const insideMs = 500;
const goneMs = 5_000;

/**
 * Ends a sandbox that was not started to the end. What waits inside gives up by itself, since the host's word can no longer
 * come; killing bubblewrap first, in the middle of set-up, could leave it without a parent to die with.
 */
export async function abandon(launched: Launched): Promise<void> {
  launched.word.destroy();
  for (const stream of [launched.stdin, launched.stdout, launched.stderr]) stream.on("error", () => {}).destroy();
  const init = findInit(launched);
  if (init !== undefined) signalProcess(init, "SIGKILL");
  if (!(await within(launched.exited, insideMs))) signalProcess(launched.outer, "SIGKILL");
  await within(Promise.all([launched.exited, launched.ready.closed]), goneMs);
  if (init !== undefined) await becomesTrue(() => !isAlive(init), goneMs);
}

/** Process 1 as bubblewrap told, as long as it is bubblewrap's child: then nobody else can have got its number. */
function findInit({ status, outer }: Launched): ProcessMark | undefined {
  const pid = status.initNow();
  return pid !== undefined && readStat(pid)?.parent === outer.pid ? markProcess(pid) : undefined;
}
