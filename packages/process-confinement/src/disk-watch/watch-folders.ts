import { setTimeout } from "node:timers/promises";
import { timed } from "./hold-still.js";
import { lookAtAll, type Sights } from "./look.js";

/** Why the watch gave the alarm. */
export interface DiskExcess {
  readonly path: string;
  /** One sentence; never a name from inside. */
  readonly reason: string;
}

export interface WatchOptions extends Sights {
  /** Called once at most; the watch is over then. */
  readonly onExcess: (excess: DiskExcess) => void;
  /** From one look to the next, 1 to 60_000 milliseconds. Default 250; longer after a look that took long. */
  readonly intervalMs?: number | undefined;
}

/** A watch that runs. */
export interface DiskWatch extends AsyncDisposable {
  /** Resolves when no look is under way any more. */
  close(): Promise<void>;
}

/** Looks at which a folder may be unreadable one after another; then it counts as over. */
const maxUnseen = 3;
/** A look that takes longer makes the watch rest: it takes a fifth of a processor at most. */
const restPerLook = 4;
/** One that holds the sandbox still, too: a tenth of its time at most. */
const restPerHold = 9;

/** Watches folders until it is closed. A folder that cannot be looked at for a while is over its bound as well. */
export function watchFolders(options: WatchOptions): DiskWatch {
  const ended = new AbortController();
  const running = watch(options, ended.signal);
  const close = async (): Promise<void> => {
    ended.abort();
    await running;
  };
  return { close, [Symbol.asyncDispose]: close };
}

async function watch(options: WatchOptions, signal: AbortSignal): Promise<void> {
  const { onExcess, intervalMs = 250 } = options;
  const unseen = new Map<string, number>();
  try {
    for (;;) {
      const began = performance.now();
      const freezer = options.freezer && timed(options.freezer);
      for (const { path, verdict, reason = verdict } of await lookAtAll({ ...options, freezer }, signal)) {
        const misses = verdict === "unseen" ? (unseen.get(path) ?? 0) + 1 : 0;
        unseen.set(path, misses);
        if (verdict === "over" || misses === maxUnseen) return onExcess({ path, reason });
      }
      const lookMs = performance.now() - began;
      const restMs = Math.max(intervalMs, restPerLook * lookMs, restPerHold * (freezer?.heldMs() ?? 0));
      await setTimeout(restMs, undefined, { signal });
    }
  } catch (cause) {
    // The signal is ours alone: its abort is the end that was asked for.
    if (!signal.aborted) throw cause;
  }
}
