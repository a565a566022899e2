import { type ExitSignals, listenForExit } from "@berth/command-line";
import { AppError } from "../errors.js";

/**
 * Runs what a command does until it ends or the process is told to end; what it says then is no fault of its own.
 * @throws {AppError} `INTERRUPTED`
 */
export async function interruptible<T>(work: (exits: ExitSignals) => Promise<T>): Promise<T> {
  let fault: unknown;
  const exits = listenForExit({
    onException: (error) => {
      fault ??= error;
    },
  });
  try {
    const result = await work(exits);
    if (fault !== undefined) throw fault;
    return result;
  } catch (error) {
    if (fault !== undefined) throw fault;
    if (!exits.signal.aborted) throw error;
    throw new AppError("INTERRUPTED", `ended by ${exits.cause() ?? "a signal"}`);
  } finally {
    exits.release();
  }
}
