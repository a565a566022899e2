const sentinel = /^=\?base64\?(.*)\?=$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const plain = /^[\t\x20-\x7e]*$/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The text that a header value stands for (MCP 2026-07-28, Transports § Header encoding): itself without the blanks around it, or what the
 * sentinel `=?base64?…?=` holds. Undefined when it is malformed: characters that no header may have, Base64 that is not exact, no UTF-8.
 */
export function readHeaderValue(raw: string): string | undefined {
  const value = withoutBlanks(raw);
  if (!plain.test(value)) return undefined;
  const encoded = sentinel.exec(value)?.[1];
  return encoded === undefined ? value : decode(encoded);
}

/** Without the blanks around it that a header may have (RFC 9110 § 5.5), and no others. */
export function withoutBlanks(raw: string): string {
  return raw.replace(/^[ \t]+|[ \t]+$/g, "");
}

/** Strict: of several writings of one text two readers might accept different ones. */
function decode(encoded: string): string | undefined {
  if (!base64.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined; // no UTF-8: malformed, as the rest
  }
}
