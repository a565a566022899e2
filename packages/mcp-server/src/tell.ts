/** Calls back, and goes on whatever comes of it: who only listens decides nothing. */
export function tell<Values extends readonly unknown[]>(
  listener: ((...values: Values) => void) | undefined,
  ...values: Values
): void {
  try {
    listener?.(...values);
  } catch {
    // There is nobody left to tell.
  }
}
