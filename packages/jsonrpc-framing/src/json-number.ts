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

/** The number whose checked token is at `start..end`; a short run of digits, as most ids are, without making a string. */
export function readNumber(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = (bytes[i] ?? 0) - 0x30;
    if (digit < 0 || digit > 9 || i - start > 14) return Number(bytes.toString("latin1", start, end));
    value = 10 * value + digit;
  }
  return value;
}

/** Whether a value that begins with this byte is a number. */
export function isNumberStart(byte: number | undefined): boolean {
  return byte !== undefined && (byte === 0x2d || (byte >= 0x30 && byte <= 0x39));
}
