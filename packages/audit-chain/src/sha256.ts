import { hash } from "node:crypto";

/**
 * SHA-256 by Node's one-shot call; a `Hash` object for each entry costs several times the hashing. By way of a text
 * of one character a byte, since the call's own buffers cost as much as the hash again.
 */
export function sha256(bytes: Uint8Array): Uint8Array {
  const characters = hash("sha256", bytes, "binary");
  const digest = new Uint8Array(characters.length);
  for (let index = 0; index < characters.length; index += 1) digest[index] = characters.charCodeAt(index);
  return digest;
}

/** The same of a text's UTF-8 bytes, as lower-case hex. */
export function sha256Hex(text: string): string {
  return hash("sha256", text, "hex");
}
