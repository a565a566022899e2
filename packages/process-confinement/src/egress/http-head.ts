import { malformed } from "./refused.js";

/** The head of a request, after the strict reading that a proxy needs: nothing in it can be read in two ways. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly version: "1.0" | "1.1";
  /** In the order that they came, names in lower case. */
  readonly fields: readonly (readonly [string, string])[];
}

const maxFields = 100;
const requestLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) ([\x21-\x7e\x80-\xff]+) HTTP\/(1\.[01])$/;
// No space before the colon, no folding (RFC 9112 §§ 5.1, 5.2), no control character but the tab in a value (RFC 9110 § 5.5).
const fieldLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/;

/**
 * Reads the bytes through the empty line (RFC 9112 §§ 3, 5). Stricter than the RFC lets a recipient be: lines end in CR LF, and
 * nothing precedes the request line.
 * @throws {EgressRefused} `REQUEST_INVALID`.
 */
export function readHead(bytes: Buffer): RequestHead {
  const [first = "", ...lines] = bytes.toString("latin1").slice(0, -4).split("\r\n");
  const start = requestLine.exec(first);
  if (start === null) throw malformed("the request line is not one of HTTP/1.0 or 1.1");
  if (lines.length > maxFields) throw malformed(`more than ${maxFields} header fields`);
  const fields = lines.map(readField);
  return { method: start[1] ?? "", target: start[2] ?? "", version: start[3] === "1.0" ? "1.0" : "1.1", fields };
}

function readField(line: string): readonly [string, string] {
  const field = fieldLine.exec(line);
  if (field === null) throw malformed("a header field is malformed");
  return [field[1]?.toLowerCase() ?? "", trimBlanks(field[2] ?? "")];
}

/** Spaces and tabs only. A loop: as a regular expression it takes the square of the length. */
function trimBlanks(text: string): string {
  const blank = (at: number): boolean => text[at] === " " || text[at] === "\t";
  let start = 0;
  let end = text.length;
  while (start < end && blank(start)) start += 1;
  while (end > start && blank(end - 1)) end -= 1;
  return text.slice(start, end);
}

/**
 * The only value of a field.
 * @throws {EgressRefused} `REQUEST_INVALID` when it occurs twice: which one counts is what request smuggling lives on.
 */
export function singleField(head: RequestHead, name: string): string | undefined {
  const values = head.fields.filter(([key]) => key === name);
  if (values.length > 1) throw malformed(`more than one ${name} field`);
  return values[0]?.[1];
}

/** How long the body of a request is. */
export type BodyFraming = { readonly kind: "none" | "chunked" } | { readonly kind: "length"; readonly bytes: number };

/**
 * RFC 9112 § 6, without its choices: both framings at once, a list, or any coding but `chunked` is refused.
 * @throws {EgressRefused} `REQUEST_INVALID`.
 */
export function readFraming(head: RequestHead): BodyFraming {
  const length = singleField(head, "content-length");
  const coding = singleField(head, "transfer-encoding");
  if (coding !== undefined) {
    if (length !== undefined) throw malformed("both content-length and transfer-encoding");
    if (head.version === "1.0" || coding.toLowerCase() !== "chunked")
      throw malformed("a transfer coding that is not chunked");
    return { kind: "chunked" };
  }
  if (length === undefined) return { kind: "none" };
  if (!/^[0-9]{1,15}$/.test(length)) throw malformed("content-length is not a number");
  return { kind: "length", bytes: Number(length) };
}

// RFC 9110 § 7.6.1, and what a client says to the proxy only.
const ownFields = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authorization",
  "proxy-authenticate",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "host",
  "expect",
];

/** The fields that are for the other side: without hop-by-hop ones, those that `Connection` names, and those that we write. */
export function endToEndFields(fields: readonly (readonly [string, string])[]): (readonly [string, string])[] {
  const named = fields.filter(([name]) => name === "connection").flatMap(([, value]) => value.toLowerCase().split(","));
  const dropped = new Set([...ownFields, ...named.map((name) => name.trim())]);
  return fields.filter(([name]) => !dropped.has(name));
}
