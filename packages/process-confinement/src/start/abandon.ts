import { isAlive, markProcess, readPidNamespace, signalProcess } from "../identity/process-identity.js";
import { becomesTrue, within } from "../waits/within.js";
import type { Launched } from "./launch.js";

const goneMs = 5_000;

/**
 * Ends a sandbox that was not started to the end. The watcher ends what is still being set up; what waits inside gives up,
 * since the host's word can no longer come.
 */
export async function abandon(launched: Launched): Promise<void> {
  launched.word.destroy();
  launched.lifeline.destroy();
  launched.args.destroy();
  for (const stream of [launched.stdin, launched.stdout, launched.stderr]) stream.on("error", () => {}).destroy();
  await endInit(launched);
  // Whoever waits inside, and whoever lets it, can still write to this one.
  await within(Promise.all([launched.exited, launched.ready.closed]), goneMs);
  await endInit(launched);
}

/** Process 1, if bubblewrap had the time to tell it. Its namespace proves that the number is not another's by now. */
async function endInit({ status }: Launched): Promise<void> {
  const init = status.initNow();
  if (init === undefined || readPidNamespace(init.pid) !== init.pidNamespace) return;
  const mark = markProcess(init.pid);
  signalProcess(mark, "SIGKILL");
  await becomesTrue(() => !isAlive(mark), goneMs);
}
