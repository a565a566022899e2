/** Waits until the promise is settled, however it is, but no longer than this. Keeps the process alive so long. */
export function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const settled = (): void => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(settled, settled);
  });
}
