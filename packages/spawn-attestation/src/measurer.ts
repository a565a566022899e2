import type { Worker } from "node:worker_threads";
import type { ThreadLimits } from "./measure-worker.js";
import { createThreads, type RunJob } from "./threads.js";

/** Bounds of one measurement. */
export interface MeasureLimits {
  /** Largest single file. Default 4 GiB. On excess `FILE_TOO_LARGE`. */
  readonly maxFileBytes?: number | undefined;
  /** Entries of a tree, ignored ones apart. Default 100_000. On excess `TREE_TOO_LARGE`. */
  readonly maxEntries?: number | undefined;
  /** Bytes of a tree. Default 4 GiB. On excess `TREE_TOO_LARGE`. */
  readonly maxTreeBytes?: number | undefined;
  /** One measurement, check or copy. Default 120_000. On excess `MEASURE_TIMEOUT`. */
  readonly timeoutMs?: number | undefined;
}

/** Settings of `createMeasurer`. */
export interface MeasurerOptions {
  readonly limits?: MeasureLimits | undefined;
  /** Threads at most. Default 2. */
  readonly maxThreads?: number | undefined;
  /** A thread without work ends after this long. Default 2_000. */
  readonly idleMs?: number | undefined;
  /**
   * How a thread is started; for programs that bundle this package and move `measure-worker.js`;
   * `limits` is to be its `workerData`.
   */
  readonly startWorker?: ((limits: ThreadLimits) => Worker) | undefined;
}

/** Reads and hashes in threads of its own, so that the event loop stays free; keeps digests of unchanged programs. */
export interface Measurer extends AsyncDisposable {
  /** For the functions of this package. */
  readonly run: RunJob;
  /** Ends the threads; work under way rejects with `MEASURER_CLOSED`. */
  close(): Promise<void>;
}

/** Makes a measurer; one serves any number of launches, and starts a thread only when there is work. */
export function createMeasurer(options: MeasurerOptions = {}): Measurer {
  const { limits = {}, maxThreads = 2, idleMs = 2_000, startWorker } = options;
  const threads = createThreads({
    limits: {
      maxFileBytes: limits.maxFileBytes ?? 4 * 1024 ** 3,
      maxEntries: limits.maxEntries ?? 100_000,
      maxTreeBytes: limits.maxTreeBytes ?? 4 * 1024 ** 3,
    },
    timeoutMs: limits.timeoutMs ?? 120_000,
    maxThreads,
    idleMs,
    startWorker,
  });
  return { run: threads.run, close: threads.close, [Symbol.asyncDispose]: threads.close };
}
