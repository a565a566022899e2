import type { EnvironmentEnd } from "../environment.js";
import { LeaseError } from "../errors.js";
import type { Ending } from "./ending.js";

export interface GuestWait {
  readonly timeoutMs: number;
  readonly ending: Ending;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for an answer from inside, at most so long.
 * @throws {LeaseError} `COMMAND_NOT_STARTED` when there was none in time, `ENVIRONMENT_ENDED`.
 */
export async function within<Value>(answer: Promise<Value>, { timeoutMs, ending, signal }: GuestWait): Promise<Value> {
  signal?.throwIfAborted();
  let stop = (): void => {};
  const failed = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => reject(silent(timeoutMs)), timeoutMs);
    const onAbort = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    const unwatch = ending.watch((end) => reject(environmentEnded(end)));
    stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      unwatch();
    };
  });
  try {
    return await Promise.race([answer, failed]);
  } finally {
    stop();
  }
}

/** The refusal of whatever needs an environment that is no more. */
export function environmentEnded(end: EnvironmentEnd): LeaseError {
  return new LeaseError("ENVIRONMENT_ENDED", `the environment has ended (${end.reason}): ${end.detail}`);
}

function silent(timeoutMs: number): LeaseError {
  return new LeaseError("COMMAND_NOT_STARTED", `the environment did not answer within ${timeoutMs} ms`);
}
