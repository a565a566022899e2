import { FramingError } from "./errors.js";
import type { Frame } from "./frame.js";

/** A field: a token (RFC 9110 § 5.6.2), a colon, and printable text. No continuation lines, no control characters. */
const field = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e]*)$/;

/**
 * The body length that a header block promises (Language Server Protocol 3.17 § Base Protocol).
 * @param block The bytes before the empty line, without it.
 */
export function readContentLength(block: Buffer, offset: number, frames: readonly Frame[]): number {
  const invalid = (what: string): FramingError =>
    new FramingError("HEADER_INVALID", `the header at byte ${offset} of the stream ${what}`, { offset, frames });
  let length: number | undefined;
  for (const line of block.toString("latin1").split("\r\n")) {
    const [, name, value] = field.exec(line) ?? [];
    if (name === undefined || value === undefined) throw invalid("has a line that is not a field");
    switch (name.toLowerCase()) {
      case "content-length":
        if (length !== undefined) throw invalid("has two Content-Length fields");
        if (!/^\d{1,15}$/.test(value.trim())) throw invalid("has a Content-Length that is not a plain number");
        length = Number(value.trim());
        break;
      case "content-type":
        if (!isUtf8Type(value)) throw invalid("names another charset than utf-8");
        break;
      default: // other fields are allowed and mean nothing
    }
  }
  if (length === undefined) throw invalid("has no Content-Length");
  return length;
}

/** `utf8` is what old language servers write. */
function isUtf8Type(value: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)"?/i.exec(value)?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}
