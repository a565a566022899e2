import { type AcquireOptions, isLeaseError, type Lease } from "@berth/environment-leases";
import { mayTryAgain } from "./acquire-fault.js";
import { SessionError } from "./errors.js";
import type { StartedWorker } from "./session-parts.js";
import type { Shelf, WarmWorker } from "./warm-shelf.js";
import { createWarmShelves, type ShelvesOptions } from "./warm-shelves.js";

/** What an owner asks for. */
export type TakeOptions = Omit<AcquireOptions, "profile">;

/** A worker with the lease that its owner now has. */
export interface TakenWorker<W extends StartedWorker> {
  readonly lease: Lease;
  readonly worker: W;
}

/** Workers that are started before they are needed. Each is given to one owner, once. */
export interface WorkerPool<W extends StartedWorker> {
  /**
   * One that is up, else the next that comes up. Another one is tried when it turns out to be gone, or did not start:
   * at most three in all.
   */
  take(profile: string, options: TakeOptions): Promise<TakenWorker<W>>;
  /** Keeps workers for this profile from now on. */
  keep(profile: string): void;
  counts(): { readonly warm: number; readonly warming: number };
  /** Ends the workers that wait and those that are being started. */
  close(): Promise<void>;
}

const maxAttempts = 3;

export function createWorkerPool<W extends StartedWorker>(options: ShelvesOptions<W>): WorkerPool<W> {
  const shelves = createWarmShelves(options);
  const closed = (): SessionError => new SessionError("SESSIONS_CLOSED", "the sessions are closed");
  let isClosed = false;

  const activate = async (shelf: Shelf<W>, warm: WarmWorker<W>, asked: TakeOptions): Promise<TakenWorker<W>> => {
    let lease: Lease;
    try {
      lease = await warm.lease.activate(asked);
    } catch (fault) {
      // The owner has too much, or asked for what cannot be; the worker is still nobody's.
      const isUntouched = isLeaseError(fault) && (fault.code === "QUOTA_REACHED" || fault.code === "OPTION_INVALID");
      if (isUntouched) shelves.putBack(shelf, warm);
      else shelves.discard(warm);
      throw fault;
    }
    if (!warm.isGone) return { lease, worker: warm.worker };
    await lease.release("crash").catch(options.onFault);
    throw new SessionError("WORKER_NOT_STARTED", "the worker ended before it was used");
  };
  return {
    async take(profile, asked) {
      for (let attempt = 1; ; attempt += 1) {
        asked.signal?.throwIfAborted();
        if (isClosed) throw closed();
        const shelf = shelves.used(profile);
        try {
          const taken = await activate(shelf, await shelves.claim(shelf, asked.signal), asked);
          if (taken.lease.restriction === undefined) shelves.gave(shelf);
          return taken;
        } catch (fault) {
          if (attempt >= maxAttempts || !mayTryAgain(fault)) throw fault;
        } finally {
          shelves.replenish(shelf);
        }
      }
    },
    keep: shelves.keep,
    counts: shelves.counts,
    close() {
      isClosed = true;
      return shelves.close(closed());
    },
  };
}
