import { type FSWatcher, watch } from "node:fs";
import { abortable } from "./abortable.js";

/** Tells that something in a folder may have changed. */
export interface FolderWatch {
  /** Resolves at the next change, or at once when there was one since the last call, or when it is time to look anyway. */
  changed(signal: AbortSignal | undefined): Promise<void>;
  close(): void;
}

// For file systems that tell nothing (network folders) and machines whose watches are used up.
const lookAgainMs = 1_000;

/** Watches a folder until it is closed. */
export function watchFolder(directory: string): FolderWatch {
  let seen = false;
  let wake: (() => void) | undefined;
  const tell = (): void => {
    seen = true;
    wake?.();
  };
  const watcher = tryWatch(directory, tell);
  const timer = setInterval(tell, lookAgainMs);
  return {
    changed: async (signal) => {
      signal?.throwIfAborted();
      if (!seen) await abortable(new Promise<void>((resolve) => (wake = resolve)), signal);
      seen = false;
    },
    close: () => {
      clearInterval(timer);
      watcher?.close();
    },
  };
}

function tryWatch(directory: string, tell: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, tell);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined; // the timer alone is enough
  }
}
