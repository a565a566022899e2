// Hashes as bytes and as hex digits. Nothing here needs Node.

// Digit of each character code; 16 for what is no lower-case hex digit. Tables, since this runs for every line read:
// a regular expression over a text made of the bytes took a third of the verifier's time (bench/chain.bench.mjs).
const hexDigits = "0123456789abcdef";
const digitOf: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = hexDigits.indexOf(String.fromCharCode(code));
  return digit === -1 ? 16 : digit;
});
const hexBytes: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

const digitAt = (bytes: Uint8Array, index: number): number => digitOf[bytes[index] ?? 0] ?? 16;

/** Whether all of the bytes are lower-case hex digits. */
export function isHex(bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index += 1) if (digitAt(bytes, index) === 16) return false;
  return true;
}

/** Whether a line's hash is this digest. */
export function isHashOf(hash: Uint8Array, digest: Uint8Array): boolean {
  if (hash.length !== digest.length * 2) return false;
  for (let index = 0; index < digest.length; index += 1) {
    if (digitAt(hash, 2 * index) * 16 + digitAt(hash, 2 * index + 1) !== digest[index]) return false;
  }
  return true;
}

/** A line's hash as text. */
export function hashText(hash: Uint8Array): string {
  return String.fromCharCode(...hash);
}

/** Lower-case hex of a digest. */
export function hexOf(digest: Uint8Array): string {
  let text = "";
  for (const byte of digest) text += hexBytes[byte];
  return text;
}
