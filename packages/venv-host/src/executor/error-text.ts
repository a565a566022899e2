const MAX_ERROR_CHARS = 2_000;
const ERROR_CODE = /^[A-Z][A-Z0-9_]{0,63}$/u;

/**
 * What an error says, whatever was thrown.
 * @param hide applied before the text is cut: half a token could not be found any more.
 */
export function errorText(error: unknown, hide: (text: string) => string = (text) => text): string {
  try {
    const text = error instanceof Error ? error.message || error.name : String(error);
    return cutText(hide(text), MAX_ERROR_CHARS);
  } catch {
    return "an error that cannot be shown"; // its own `toString` threw
  }
}

/** The code of an error, when it looks like one. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && ERROR_CODE.test(code) ? code : undefined;
}

/** Cuts between characters, never inside one. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  const isSplit = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isSplit ? maxChars - 1 : maxChars);
}
