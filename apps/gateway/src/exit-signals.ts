/** The end of a process, as one signal that everything below it can wait on. */
export interface ExitSignals {
  /** Aborted at the first SIGINT, SIGTERM, SIGHUP or uncaught exception. */
  readonly signal: AbortSignal;
  /** What it was; undefined while nothing happened. */
  readonly cause: () => string | undefined;
  /** Stops listening. */
  release(): void;
}

const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Listens for what ends a process. A second signal of the same kind ends it at once. */
export function listenForExit(onException: (error: unknown) => void): ExitSignals {
  const controller = new AbortController();
  let cause: string | undefined;
  const end = (reason: string): void => {
    cause ??= reason;
    controller.abort(new Error(`ended by ${reason}`));
  };
  const onSignal = (name: NodeJS.Signals): void => {
    process.removeListener(name, onSignal);
    end(name);
  };
  const onUncaught = (error: unknown): void => {
    onException(error);
    end("exception");
  };
  for (const name of names) process.on(name, onSignal);
  process.on("uncaughtException", onUncaught);
  return {
    signal: controller.signal,
    cause: () => cause,
    release: () => {
      for (const name of names) process.removeListener(name, onSignal);
      process.removeListener("uncaughtException", onUncaught);
    },
  };
}
