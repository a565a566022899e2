import { createRedactor, REDACTED, type Redactor } from "../executor/redact.js";

/** Tokens that late lines are still searched for. */
const MAX_REMEMBERED = 64;
/** A shorter beginning of a token may be the end of any word. */
const LEAST_PART_CHARS = 6;

/** Knows what of recent tasks must appear nowhere, and shows it to nobody. */
export interface Secrets {
  remember(tokens: readonly string[]): void;
  /** The text without them; also without one that was cut off at the place where bytes were left out of the line. */
  hide(text: string): string;
}

export function createSecrets(): Secrets {
  let tokens: readonly string[] = [];
  let redactor: Redactor = createRedactor([]);
  return {
    remember: (given) => {
      const added = given.filter((token) => !tokens.includes(token));
      if (added.length === 0) return;
      tokens = [...tokens, ...added].slice(-MAX_REMEMBERED);
      redactor = createRedactor(tokens);
    },
    hide: (text) => (redactor.isIdle ? text : hideCut(redactor.text(text), tokens)),
  };
}

const LEFT_OUT = / … \d+ bytes left out$/u;

function hideCut(text: string, tokens: readonly string[]): string {
  const place = LEFT_OUT.exec(text)?.index;
  if (place === undefined) return text;
  const kept = text.slice(0, place).replace(/\ufffd+$/u, "");
  const part = Math.max(0, ...tokens.map((token) => beginningAtEnd(kept, token)));
  return part === 0 ? text : `${kept.slice(0, kept.length - part)}${REDACTED}${text.slice(place)}`;
}

/** How many characters of the token's beginning the text ends with. */
function beginningAtEnd(text: string, token: string): number {
  for (let length = Math.min(token.length - 1, text.length); length >= LEAST_PART_CHARS; length--) {
    if (text.endsWith(token.slice(0, length))) return length;
  }
  return 0;
}
