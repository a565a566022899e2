import type { JudgedList } from "./judge-list.js";

/** Fetches of one list. At most one runs and one waits for its end, however many ask: a server that announces changes without end costs no more. */
export interface SharedFetch {
  /** A fetch that began after this announcement. */
  after(announcement: number): Promise<JudgedList>;
  /** Whether such a fetch runs or is going to. */
  covers(announcement: number): boolean;
}

/** None runs yet. `announced` counts announcements so far; `fetch` is told how many there were when it began. */
export function createSharedFetch(
  announced: () => number,
  fetch: (startedAt: number) => Promise<JudgedList>,
): SharedFetch {
  let running: { readonly startedAt: number; readonly done: Promise<JudgedList> } | undefined;
  let next: Promise<JudgedList> | undefined;

  const run = async (startedAt: number): Promise<JudgedList> => {
    try {
      return await fetch(startedAt);
    } finally {
      running = undefined;
    }
  };
  const start = (): Promise<JudgedList> => {
    const startedAt = announced();
    const done = run(startedAt);
    running = { startedAt, done };
    return done;
  };
  const startAfter = async (before: Promise<unknown>): Promise<JudgedList> => {
    await before.catch(() => undefined); // Told to those who asked for that one.
    next = undefined;
    return start();
  };

  return {
    after(announcement) {
      if (running === undefined) return next ?? start();
      if (running.startedAt >= announcement) return running.done;
      next ??= startAfter(running.done);
      return next;
    },
    covers: (announcement) => next !== undefined || (running !== undefined && running.startedAt >= announcement),
  };
}
