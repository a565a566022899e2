/** Bytes that JSON's grammar names (RFC 8259 § 2). */
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** The same memory as a Buffer, for its native search: 15 µs for 1 MiB where Uint8Array's own takes 500. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Space, tab, line feed and carriage return, and nothing else. */
export function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === 0x09;
}

/** The first place from `at` on that is not white space; `end` when there is none. */
export function skipWhiteSpace(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  while (i < end && isWhiteSpace(bytes[i])) i++;
  return i;
}

/** Whether there is nothing but white space. */
export function isBlank(bytes: Uint8Array): boolean {
  return skipWhiteSpace(bytes, 0, bytes.length) === bytes.length;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function skipDigits(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  while (i < end && isDigit(bytes[i])) i++;
  return i;
}

/** The end of the number that starts at `at` (RFC 8259 § 6); -1 when there is none. */
export function endOfNumber(bytes: Uint8Array, at: number, end: number): number {
  const whole = bytes[at] === 0x2d ? at + 1 : at;
  let i = skipDigits(bytes, whole, end);
  if (i === whole || (bytes[whole] === 0x30 && i > whole + 1)) return -1;
  if (i < end && bytes[i] === 0x2e) {
    const fraction = i + 1;
    i = skipDigits(bytes, fraction, end);
    if (i === fraction) return -1;
  }
  if (i < end && (bytes[i] === 0x65 || bytes[i] === 0x45)) {
    const sign = i + 1;
    const exponent = sign < end && (bytes[sign] === 0x2b || bytes[sign] === 0x2d) ? sign + 1 : sign;
    i = skipDigits(bytes, exponent, end);
    if (i === exponent) return -1;
  }
  return i;
}

function endOfWord(bytes: Uint8Array, at: number, end: number, word: string): number {
  if (end - at < word.length) return -1;
  for (let k = 0; k < word.length; k++) if (bytes[at + k] !== word.charCodeAt(k)) return -1;
  return at + word.length;
}

/** The end of the number, `true`, `false` or `null` that starts at `at`; -1 when there is none. */
export function endOfLiteral(bytes: Uint8Array, at: number, end: number): number {
  switch (at < end ? bytes[at] : undefined) {
    case 0x74:
      return endOfWord(bytes, at, end, "true");
    case 0x66:
      return endOfWord(bytes, at, end, "false");
    case 0x6e:
      return endOfWord(bytes, at, end, "null");
    default:
      return endOfNumber(bytes, at, end);
  }
}
