import type { StartedWorker } from "./session-parts.js";
import { startWarm, type WarmStarter } from "./start-warm.js";
import { untilAborted } from "./until-aborted.js";
import { createShelf, isRestricted, type Shelf, takeOut, type WarmWorker } from "./warm-shelf.js";

/** The shelves of all profiles that were used lately. */
export interface WarmShelves<W extends StartedWorker> {
  /** The profile's shelf, which now was used. */
  used(profile: string): Shelf<W>;
  /** Keeps workers for this profile from now on. */
  keep(profile: string): void;
  /** One that is up, else the next that comes up; whoever stops waiting leaves it to others. */
  claim(shelf: Shelf<W>, signal: AbortSignal | undefined): Promise<WarmWorker<W>>;
  /** Was claimed, and is still nobody's. */
  putBack(shelf: Shelf<W>, warm: WarmWorker<W>): void;
  /** Was claimed, and is of no use. */
  discard(warm: WarmWorker<W>): void;
  /** One of it was given to its owner. */
  gave(shelf: Shelf<W>): void;
  replenish(shelf: Shelf<W>): void;
  counts(): { readonly warm: number; readonly warming: number };
  close(reason: unknown): Promise<void>;
}

export interface ShelvesOptions<W extends StartedWorker> extends Omit<WarmStarter<W>, "signal"> {
  readonly onFault: (fault: unknown) => void;
}

/** Started at once for nobody in particular: a client that waits for its own should have the processor. */
const maxBackgroundStarts = 2;
const firstRetryMs = 250;
const maxRetryMs = 60_000;

/** One machine over the shelves, hence its length. */
export function createWarmShelves<W extends StartedWorker>(options: ShelvesOptions<W>): WarmShelves<W> {
  const { terms, scheduler, onFault } = options;
  const shelves = new Map<string, Shelf<W>>();
  const kept = new Set<string>();
  const closing = new AbortController();
  const starter = { ...options, signal: closing.signal };
  const starts = new Set<Promise<unknown>>();
  const leaving = new Set<Promise<void>>();

  const discard = (warm: WarmWorker<W>): void => {
    warm.isGone = true;
    const left = Promise.allSettled([warm.worker.close(), warm.lease.close()]).then((ends) => {
      leaving.delete(left);
      for (const end of ends) if (end.status === "rejected") onFault(end.reason);
    });
    leaving.add(left);
  };
  const isKept = (shelf: Shelf<W>): boolean => !closing.signal.aborted && shelves.get(shelf.profile) === shelf;
  const shelve = (shelf: Shelf<W>, warm: WarmWorker<W>): void => {
    const fits = isKept(shelf) && !warm.isGone && !isRestricted(warm) && shelf.ready.length < terms.warmWorkers;
    if (fits) shelf.ready.push(warm);
    else discard(warm);
  };
  const failed = (shelf: Shelf<W>): void => {
    shelf.failures += 1;
    if (!isKept(shelf)) return;
    const delayMs = Math.min(firstRetryMs * 2 ** Math.min(shelf.failures - 1, 16), maxRetryMs);
    shelf.retry?.cancel();
    shelf.retry = scheduler.after(delayMs, () => {
      shelf.retry = undefined;
      replenish(shelf);
    });
  };
  const watch = (shelf: Shelf<W>, warm: WarmWorker<W>): void => {
    void Promise.race([warm.worker.gone, warm.lease.environment.ended]).then(() => {
      if (warm.isGone) return;
      warm.isGone = true;
      if (!takeOut(shelf.ready, warm)) return;
      discard(warm);
      // Delayed, so that one that cannot live is not started over and over.
      failed(shelf);
    });
  };
  /** Nobody has claimed it yet. */
  const begin = (shelf: Shelf<W>): Promise<WarmWorker<W>> => {
    const start = startWarm(shelf.profile, starter);
    shelf.unclaimed.push(start);
    starts.add(start);
    const arrived = (warm: WarmWorker<W>): void => {
      watch(shelf, warm);
      if (!takeOut(shelf.unclaimed, start)) return;
      shelve(shelf, warm);
      // Delayed: the next one would be no better.
      if (isRestricted(warm)) failed(shelf);
    };
    const lost = (fault: unknown): void => {
      const isTold = !takeOut(shelf.unclaimed, start);
      if (!isTold && !closing.signal.aborted) onFault(fault);
      failed(shelf);
    };
    void start.then(arrived, lost).finally(() => {
      starts.delete(start);
      for (const each of shelves.values()) replenish(each);
    });
    return start;
  };
  const replenish = (shelf: Shelf<W>): void => {
    if (!isKept(shelf) || shelf.retry !== undefined) return;
    while (starts.size < maxBackgroundStarts && shelf.ready.length + shelf.unclaimed.length < terms.warmWorkers) {
      void begin(shelf);
    }
  };
  const retire = (shelf: Shelf<W>): void => {
    shelf.retry?.cancel();
    shelf.expiry?.cancel();
    shelves.delete(shelf.profile);
    for (const warm of shelf.ready.splice(0)) discard(warm);
  };
  const used = (profile: string): Shelf<W> => {
    const shelf = shelves.get(profile) ?? createShelf<W>(profile);
    // Moved to the end: the first is the one that was used longest ago.
    shelves.delete(profile);
    shelves.set(profile, shelf);
    shelf.expiry?.cancel();
    if (!kept.has(profile)) shelf.expiry = scheduler.after(terms.warmProfileMs, () => retire(shelf));
    for (const each of [...shelves.values()]) {
      if (shelves.size > terms.maxWarmProfiles && each !== shelf && !kept.has(each.profile)) retire(each);
    }
    return shelf;
  };

  const claim = async (shelf: Shelf<W>, signal: AbortSignal | undefined): Promise<WarmWorker<W>> => {
    const ready = shelf.ready.shift();
    if (ready !== undefined) return ready;
    const [underWay] = shelf.unclaimed;
    if (underWay === undefined) return wait(shelf, begin(shelf), signal);
    const warm = await wait(shelf, underWay, signal);
    if (!isRestricted(warm)) return warm;
    // It was begun before it was asked for, and what restricts it may have gone meanwhile.
    discard(warm);
    return wait(shelf, begin(shelf), signal);
  };
  const wait = async (
    shelf: Shelf<W>,
    start: Promise<WarmWorker<W>>,
    signal: AbortSignal | undefined,
  ): Promise<WarmWorker<W>> => {
    takeOut(shelf.unclaimed, start);
    try {
      return await untilAborted(start, signal);
    } catch (error) {
      // Who wanted it is gone; the next one may have it.
      start.then((warm) => shelve(shelf, warm)).catch(() => undefined);
      throw error;
    }
  };
  const end = async (reason: unknown): Promise<void> => {
    closing.abort(reason);
    for (const shelf of [...shelves.values()]) retire(shelf);
    await Promise.allSettled(starts);
    while (leaving.size > 0) await Promise.allSettled(leaving);
  };
  let closed: Promise<void> | undefined;
  return {
    used,
    keep(profile) {
      kept.add(profile);
      replenish(used(profile));
    },
    claim,
    putBack: shelve,
    discard,
    gave(shelf) {
      shelf.failures = 0;
      shelf.retry?.cancel();
      shelf.retry = undefined;
    },
    replenish,
    counts() {
      let warm = 0;
      for (const shelf of shelves.values()) warm += shelf.ready.length;
      return { warm, warming: starts.size };
    },
    close: (reason) => (closed ??= end(reason)),
  };
}
