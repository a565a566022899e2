/** Characters that a terminal acts on or that hide text: controls, bidi marks, zero-width and tag characters, lone surrogates. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;

/** The text with characters that would act on a terminal, or not be seen, written as `\u{…}`. */
export function visibleText(text: string): string {
  return text.replace(unsafe, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
