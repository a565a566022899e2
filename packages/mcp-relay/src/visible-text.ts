/** Characters that a terminal acts on or that hide text: controls, bidi marks, zero-width and tag characters, lone surrogates. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;
const maxExcerptBytes = 160;
const maxShownName = 128;

/** The text with characters that would act on a terminal, or not be seen, written as `\u{…}`. */
export function visibleText(text: string): string {
  return text.replace(unsafe, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The beginning of some bytes, for an operator's eyes. */
export function excerptOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, maxExcerptBytes));
  return visibleText(bytes.length > maxExcerptBytes ? `${text}…` : text);
}

/** A server's own name of something, for an operator's eyes: quoted, and cut when it is long. */
export function quotedName(name: string): string {
  return visibleText(JSON.stringify(name.length > maxShownName ? `${name.slice(0, maxShownName)}…` : name));
}
