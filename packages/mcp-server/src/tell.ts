/** Calls back, and goes on whatever comes of it: who only listens must not decide who is let in. */
export function tell<T>(listener: ((value: T) => void) | undefined, value: T): void {
  try {
    listener?.(value);
  } catch {
    // There is nobody left to tell.
  }
}
