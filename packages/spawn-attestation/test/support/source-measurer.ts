import { Worker } from "node:worker_threads";
import { createMeasurer, type Measurer, type MeasurerOptions } from "../../src/index.js";

/** A measurer whose threads run the sources, not `dist`. */
export function sourceMeasurer(options: MeasurerOptions = {}): Measurer {
  return createMeasurer({ ...options, startWorker: startFromSource });
}

function startFromSource(limits: unknown): Worker {
  const hook = new URL("./resolve-source.mjs", import.meta.url).href;
  const file = new URL("../../src/measure-worker.ts", import.meta.url);
  return new Worker(file, { workerData: limits, env: {}, execArgv: ["--import", hook] });
}
