import { cutText } from "./plugin-reply.js";

const MAX_ERROR_CHARS = 2_000;

/** What an error says, whatever was thrown. */
export function errorText(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message || error.name : String(error);
    return cutText(text, MAX_ERROR_CHARS);
  } catch {
    return "an error that cannot be shown"; // its own `toString` threw
  }
}

/** The code of an error that has one. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? cutText(code, 100) : undefined;
}
