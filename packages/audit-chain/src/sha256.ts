import { hash } from "node:crypto";

/** SHA-256 by Node. The one-shot call: a `Hash` object for each entry costs several times the hashing. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return hash("sha256", bytes, "buffer");
}

/** The same of a text's UTF-8 bytes, as lower-case hex. */
export function sha256Hex(text: string): string {
  return hash("sha256", text, "hex");
}
