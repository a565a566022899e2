/** Longest piece of a plugin's own text in a message. */
const maxQuoted = 80;

/**
 * A plugin's text in a message for people: on one line, cut, and with everything escaped that a terminal obeys or that turns the
 * reading direction.
 */
export function quoted(text: string): string {
  const cut = text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text;
  return JSON.stringify(cut).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
