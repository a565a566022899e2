import { createHash } from "node:crypto";

/** Text of a value of ours with members in order of their names (RFC 8785 for strings, booleans, null and small integers). */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`);
  return `{${members.join(",")}}`;
}

/** Hex SHA-256 of the canonical text. */
export function canonicalDigest(value: unknown): string {
  return sha256(canonicalText(value));
}

/** Hex SHA-256 of bytes or of the UTF-8 of a text. */
export function sha256(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
