import { PluginHostError } from "../errors.js";
import type { Scheduler } from "../plugin-host.js";
import { askPlugin } from "./ask-plugin.js";
import type { HookProgress, HookSession } from "./hook-session.js";
import { seenBy } from "./phases.js";
import type { PluginSlot } from "./plugin-slot.js";
import { codeOf, executionOf, makeExecution, note, skip, switchOff, tell } from "./settle.js";

/** Calls of fire_and_forget plugins: nobody waits for them but the end of the host. */
export interface BackgroundCalls {
  start(session: HookSession, progress: HookProgress, slot: PluginSlot): void;
  /** Ends them: those that are not over by themselves after the time are aborted. */
  close(graceMs: number): Promise<void>;
}

/** A caller's signal ends its wait, not what goes on behind it. */
export function createBackgroundCalls(scheduler: Scheduler, maxCalls: number): BackgroundCalls {
  const ending = new AbortController();
  const running = new Set<Promise<void>>();
  return {
    start(session, progress, slot) {
      if (running.size >= maxCalls) {
        skip(session, progress, slot, `${maxCalls} calls are under way in the background`);
        return;
      }
      const seen = seenBy(progress, slot);
      note(session, progress, slot, makeExecution(session, slot, "started", 0, undefined), undefined);
      const call = (async () => {
        const attempt = await askPlugin(session, slot, seen, ending.signal);
        if (attempt.outcome === "failed" || attempt.outcome === "timed_out") switchOff(slot);
        tell(session, slot, executionOf(session, slot, attempt, false), codeOf(attempt));
      })()
        .catch(() => undefined) // only the end of the host rejects it
        .finally(() => running.delete(call));
      running.add(call);
    },
    async close(graceMs) {
      const end = (): void => ending.abort(new PluginHostError("HOST_CLOSED", "the host of plugins is closed"));
      const timer = scheduler.after(graceMs, end);
      await Promise.all(running);
      timer.cancel();
    },
  };
}
