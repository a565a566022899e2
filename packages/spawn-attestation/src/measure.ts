import type { SpawnDescription } from "./description.js";
import type { Measurement } from "./measurement.js";
import type { Measurer } from "./measurer.js";
import type { AskInterpreter } from "./shim.js";

/** Settings of `measureLaunch`. */
export interface MeasureOptions {
  readonly measurer?: Measurer | undefined;
  readonly scratch?: string | undefined;
  readonly ask?: AskInterpreter | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves what would run and measures it. Starts nothing, except a shim that is asked which interpreter it stands for.
 * @throws {AttestationError} each code of the README's table up to `MEASURE_TIMEOUT`.
 */
export function measureLaunch(_description: SpawnDescription, _options?: MeasureOptions): Promise<Measurement> {
  return Promise.reject(new Error("not built yet"));
}
