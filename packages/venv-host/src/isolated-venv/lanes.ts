import type { Worker } from "../worker/worker.js";

/** The workers of one plugin. */
export interface Lanes {
  /** Runs on the worker that has least to do; one more is opened while all are busy and the pool allows. */
  use<T>(hook: string, work: (worker: Worker) => Promise<T>): Promise<T>;
  readonly workers: readonly Worker[];
  close(): Promise<void>;
}

interface Lane {
  readonly worker: Worker;
  readonly key: string;
  busy: number;
}

/**
 * @param first Opened already, to ask for features.
 * @param keyOf Hooks with different keys share no worker.
 */
export function createLanes(
  first: Worker,
  open: () => Worker,
  pool: number,
  keyOf: (hook: string) => string | undefined,
): Lanes {
  const lanes: Lane[] = [];
  const pick = (key: string): Lane => {
    const mine = lanes.filter((lane) => lane.key === key).sort((one, other) => one.busy - other.busy);
    const [idlest] = mine;
    if (idlest !== undefined && (idlest.busy === 0 || mine.length >= pool)) return idlest;
    const lane: Lane = { worker: lanes.length === 0 ? first : open(), key, busy: 0 };
    lanes.push(lane);
    return lane;
  };
  return {
    use: async (hook, work) => {
      const lane = pick(keyOf(hook) ?? "");
      lane.busy += 1;
      try {
        return await work(lane.worker);
      } finally {
        lane.busy -= 1;
      }
    },
    get workers() {
      return lanes.length === 0 ? [first] : lanes.map(({ worker }) => worker);
    },
    close: async () => {
      const closing = [first, ...lanes.map(({ worker }) => worker)].map((worker) => worker.close());
      const failed = (await Promise.allSettled(closing)).find((one) => one.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },
  };
}
