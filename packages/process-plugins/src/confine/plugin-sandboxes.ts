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
  /** Ends what waits: the plugin is not to run. */
  keepNone(): void;
  /** Ends what waits, and resolves when it is gone. Sandboxes that were opened live on. */
  close(): Promise<void>;
}

export interface PluginSandboxesOptions {
  /** Opens what does not wait. */
  readonly openFresh: OpenSandbox;
  readonly scheduler: Scheduler;
  /** Sandboxes are made one after the other, by whoever shares it: a start of one keeps the host busy for some milliseconds. */
  readonly oneByOne: OneByOne;
}

/** Runs works one after the other. What they reject with is nobody's. */
export type OneByOne = (work: () => Promise<void>) => void;

export function createOneByOne(): OneByOne {
  let last: Promise<void> = Promise.resolve();
  return (work) => {
    last = last.then(work).catch(() => {});
  };
}

/** So long a sandbox waits for a plugin that was not asked for again. */
export const keptMs = 600_000;

interface Kept {
  /** What it is made of. */
  readonly made: string;
  readonly prepared: PreparedSandboxes;
  readonly timer: SchedulerTimer;
}

export function createPluginSandboxes({ openFresh, scheduler, oneByOne }: PluginSandboxesOptions): PluginSandboxes {
  let last: Pick<SandboxOptions, "file" | "policy"> | undefined;
  let kept: Kept | undefined;
  let isClosed = false;
  /** Counts starts and other turns: one that was to be kept before is not wanted any more. */
  let turn = 0;
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
      turn += 1;
      const one = takeKept();
      if (one === undefined) return await openFresh(options);
      try {
        return one.made === madeOf(last) ? await one.prepared.open(start) : await openFresh(options);
      } finally {
        end(one);
      }
    },
    keepOne: () => {
      drop();
      turn += 1;
      const wantedAt = turn;
      oneByOne(async () => {
        if (isClosed || last === undefined || turn !== wantedAt) return;
        // What is bound may not be there any more, or the like: then the next start says so.
        const prepared = createPreparedSandboxes({ name: sandboxNames, ...last });
        const timer = scheduler.after(keptMs, drop);
        timer.hold(false);
        kept = { made: madeOf(last), prepared, timer };
        await prepared.ready();
      });
    },
    keepNone: () => {
      turn += 1;
      drop();
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
