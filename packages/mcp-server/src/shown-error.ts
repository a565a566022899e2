/** An error as text for an operator. Anything can be thrown, also what cannot be made a text. */
export function shownError(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } catch {
    return "something that has no text";
  }
}
