/** A promise and the function that resolves it; `Promise.withResolvers` is absent in Node 20. */
export interface Gate<T> {
  readonly passed: Promise<T>;
  /** The first call counts. */
  open(value: T): void;
}

export function createGate<T>(): Gate<T> {
  let resolveIt: ((value: T) => void) | undefined;
  const passed = new Promise<T>((resolve) => {
    resolveIt = resolve;
  });
  return { passed, open: (value) => resolveIt?.(value) };
}
