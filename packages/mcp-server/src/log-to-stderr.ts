/** One line for an operator on standard error. */
export function logToStderr(text: string, error?: unknown): void {
  const detail =
    error === undefined ? "" : `: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  process.stderr.write(`${text}${detail}\n`);
}
