/** Whether the promise settles within the time. */
export function within(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), timeoutMs);
    const settled = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}

const firstLookMs = 1;
const longestLookMs = 32;

/**
 * Looks again and again, less and less often. Whether it became true within the time.
 * @throws The signal's reason.
 */
export async function becomesTrue(isTrue: () => boolean, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  for (let delayMs = firstLookMs; !isTrue(); delayMs = Math.min(delayMs * 2, longestLookMs)) {
    if (performance.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    signal?.throwIfAborted();
  }
  return true;
}
