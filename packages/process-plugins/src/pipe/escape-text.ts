/** Controls, invisible format characters (also those that turn the direction of text), line separators, and halves of pairs. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const maxExcerptChars = 200;
/** Enough bytes for the longest excerpt of four-byte characters. */
const excerptBytes = 800;

/** A plugin's text for a terminal or a log: what could move a cursor or hide other text is written as `\u001b`. */
export function escapeText(text: string): string {
  return text.replace(unprintable, (character) =>
    [...character].map((each) => `\\u${(each.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`).join(""),
  );
}

/** The beginning of what a plugin wrote, escaped, at most 200 characters. */
export function excerptOf(bytes: Uint8Array): string {
  const text = escapeText(Buffer.from(bytes.subarray(0, excerptBytes)).toString("utf8"));
  return text.length > maxExcerptChars ? `${cutText(text, maxExcerptChars - 1)}…` : text;
}

function cutText(text: string, chars: number): string {
  const cut = text.slice(0, chars);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

/** The beginning of a text in at most so many bytes of UTF-8; a character is kept or left out whole. */
export function cutBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}
