/**
 * Calls what somebody else wrote, and goes on: `failed` gets what it throws, and what a promise that it returns rejects with, or an uncaught rejection would
 * end the process. Returns what it returned; undefined when it threw. `failed` must not throw.
 */
export function attempt<T>(action: () => T, failed: (error: unknown) => void): T | undefined {
  try {
    const returned = action();
    if (isThenable(returned)) Promise.resolve(returned).then(undefined, failed);
    return returned;
  } catch (error) {
    failed(error);
    return undefined;
  }
}

/** Calls back, and goes on whatever comes of it: who only listens decides nothing. */
export function tell<Values extends readonly unknown[]>(
  listener: ((...values: Values) => void) | undefined,
  ...values: Values
): void {
  attempt(() => listener?.(...values), ignore);
}

function ignore(): void {
  // There is nobody left to tell.
}

/** Not only promises of this realm and library. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
