import type { Scheduler, SchedulerTimer } from "@berth/jsonrpc-framing";
import { createPreparedSandboxes, type PreparedSandboxes, type SandboxOptions } from "@berth/process-confinement";
import { sandboxNames } from "./sandbox-names.js";
import type { OpenSandbox } from "./start-confined.js";

/** Opens the sandboxes of one plugin, one after the other. */
export interface PluginSandboxes {
  readonly open: OpenSandbox;
  /**
   * Has a sandbox like the last one wait for the next start, for `keptMs`. What ended is likely to be asked for again, and a start that finds
   * one takes half the time. Nothing of the plugin runs in it.
   */
  keepOne(): void;
  /** Ends what waits, and resolves when it is gone. Sandboxes that were opened live on. */
  close(): Promise<void>;
}

export interface PluginSandboxesOptions {
  /** Opens what does not wait. */
  readonly openFresh: OpenSandbox;
  readonly scheduler: Scheduler;
}

/** So long a sandbox waits for a plugin that was not asked for again. */
export const keptMs = 600_000;

interface Kept {
  /** What it is made of. */
  readonly made: string;
  readonly prepared: PreparedSandboxes;
  readonly timer: SchedulerTimer;
}

export function createPluginSandboxes({ openFresh, scheduler }: PluginSandboxesOptions): PluginSandboxes {
  let last: Pick<SandboxOptions, "file" | "policy"> | undefined;
  let kept: Kept | undefined;
  let isClosed = false;
  const leaving = new Set<Promise<void>>();

  const end = ({ prepared, timer }: Kept): void => {
    timer.cancel();
    const gone = prepared.close().finally(() => leaving.delete(gone));
    leaving.add(gone);
  };
  const takeKept = (): Kept | undefined => {
    const one = kept;
    kept = undefined;
    return one;
  };
  const drop = (): void => {
    const one = takeKept();
    if (one !== undefined) end(one);
  };
  return {
    open: async (options) => {
      const { name: _, policy, file, asPid1, handshake, ...start } = options;
      last = { policy, file };
      const one = takeKept();
      if (one === undefined) return await openFresh(options);
      try {
        return one.made === madeOf(last) ? await one.prepared.open(start) : await openFresh(options);
      } finally {
        end(one);
      }
    },
    keepOne: () => {
      if (isClosed || last === undefined) return;
      drop();
      try {
        const prepared = createPreparedSandboxes({ name: sandboxNames, ...last });
        const timer = scheduler.after(keptMs, drop);
        timer.hold(false);
        kept = { made: madeOf(last), prepared, timer };
      } catch {
        // What is bound is not there any more, or the like: the next start says so.
      }
    },
    close: async () => {
      isClosed = true;
      drop();
      await Promise.all(leaving);
    },
  };
}

function madeOf(parts: Pick<SandboxOptions, "file" | "policy">): string {
  return JSON.stringify([parts.file, parts.policy]);
}
