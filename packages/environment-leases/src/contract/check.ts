/** One thing that a contract wants, as a test of any runner: `for (const { name, run } of checks) test(name, run)`. */
export interface ContractCheck {
  /** What the contract wants, as a sentence. No two checks of a contract have the same. */
  readonly name: string;
  /**
   * Opens what is checked, checks it, disposes of it. May be called again, and beside other checks.
   * @throws {AssertionError} of node:assert when the contract is broken.
   */
  run(): Promise<void>;
}

/** Runs with what was opened and disposes of it, whatever happened. When both fail, the error has both. */
export async function withOpened<T extends { dispose?(): Promise<void> | void }>(
  open: () => Promise<T> | T,
  run: (opened: T) => Promise<void>,
): Promise<void> {
  const opened = await open();
  let failure: { readonly error: unknown } | undefined;
  try {
    await run(opened);
  } catch (error) {
    failure = { error };
  }
  try {
    await opened.dispose?.();
  } catch (error) {
    if (failure === undefined) throw error;
    throw new AggregateError([failure.error, error], "the check failed, and so did its cleanup");
  }
  if (failure !== undefined) throw failure.error;
}
