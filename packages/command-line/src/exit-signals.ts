/** The end of a process, as one signal that everything below it can wait on. */
export interface ExitSignals {
  /** Aborted at the first signal or uncaught exception. */
  readonly signal: AbortSignal;
  /** What it was: the signal's name, or `exception`; undefined while nothing happened. */
  readonly cause: () => string | undefined;
  /** Stops listening. */
  release(): void;
}

/** What is told beside the end. */
export interface ExitOptions {
  /** Told of an uncaught exception, which would have ended the process with its stack. */
  readonly onException?: ((error: unknown) => void) | undefined;
  /** Told of SIGHUP instead of ending: it is reserved for reload in a server that has no terminal. Absent: SIGHUP ends. */
  readonly onHangup?: (() => void) | undefined;
}

type EndingSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Listens for what ends a process: SIGINT, SIGTERM, SIGHUP, an uncaught exception. A second signal of the same kind ends it at once. */
export function listenForExit({ onException, onHangup }: ExitOptions = {}): ExitSignals {
  const controller = new AbortController();
  const names: readonly EndingSignal[] =
    onHangup === undefined ? ["SIGINT", "SIGTERM", "SIGHUP"] : ["SIGINT", "SIGTERM"];
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
    onException?.(error);
    end("exception");
  };
  for (const name of names) process.on(name, onSignal);
  if (onHangup !== undefined) process.on("SIGHUP", onHangup);
  process.on("uncaughtException", onUncaught);
  return {
    signal: controller.signal,
    cause: () => cause,
    release: () => {
      for (const name of names) process.removeListener(name, onSignal);
      if (onHangup !== undefined) process.removeListener("SIGHUP", onHangup);
      process.removeListener("uncaughtException", onUncaught);
    },
  };
}
