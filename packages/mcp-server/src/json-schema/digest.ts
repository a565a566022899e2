/**
 * `sha256:` and 64 hex digits of a text as UTF-8. The module is loaded on first use: it costs as much as a third of a bare start of Node, and a
 * server that only checks values needs no digest.
 */
export function digestOf(text: string): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
