/** A JSON Pointer (RFC 6901) with one more token. */
export function pointerTo(pointer: string, token: string | number): string {
  if (typeof token === "number") return `${pointer}/${token}`;
  return `${pointer}/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The tokens of a JSON Pointer that is "" or begins with a slash. */
export function pointerTokens(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}
