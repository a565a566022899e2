import { shownError } from "./shown-error.js";

/** One line for an operator on standard error. */
export function logToStderr(text: string, error?: unknown): void {
  process.stderr.write(`${text}${error === undefined ? "" : `: ${shownError(error)}`}\n`);
}
