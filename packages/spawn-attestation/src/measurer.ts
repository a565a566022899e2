import type { Worker } from "node:worker_threads";

/** Bounds of one measurement. */
export interface MeasureLimits {
  /** Largest single file. Default 4 GiB. On excess `FILE_TOO_LARGE`. */
  readonly maxFileBytes?: number | undefined;
  /** Entries of a tree, ignored ones apart. Default 200_000. On excess `TREE_TOO_LARGE`. */
  readonly maxEntries?: number | undefined;
  /** Bytes of a tree. Default 4 GiB. On excess `TREE_TOO_LARGE`. */
  readonly maxTreeBytes?: number | undefined;
  /** One measurement, recheck or copy. Default 120_000. On excess `MEASURE_TIMEOUT`. */
  readonly timeoutMs?: number | undefined;
}

/** Settings of `createMeasurer`. */
export interface MeasurerOptions {
  readonly limits?: MeasureLimits | undefined;
  /** Threads at most. Default 2. */
  readonly maxThreads?: number | undefined;
  /** A thread without work ends after this long. Default 2_000. */
  readonly idleMs?: number | undefined;
  /** How a thread is started; for programs that bundle this package and move `measure-worker.js`. */
  readonly startWorker?: (() => Worker) | undefined;
}

/** Reads and hashes in threads of its own, so that the event loop stays free; keeps digests of unchanged interpreters. */
export interface Measurer extends AsyncDisposable {
  /** Ends the threads; work under way rejects with `MEASURER_CLOSED`. */
  close(): Promise<void>;
}
