import { RelayError } from "./errors.js";

/** A JSON value whose number literals stay as they were written: `1`, `1.0` and `1e0` differ, and 64-bit integers keep their digits. */
export type JsonNode =
  | { readonly kind: "object"; readonly members: ReadonlyMap<string, JsonNode> }
  | { readonly kind: "array"; readonly items: readonly JsonNode[] }
  /** A string, number, boolean or null; `text` is its canonical JSON. */
  | { readonly kind: "leaf"; readonly text: string };

/** Nesting beyond this is refused: definitions are written by people, and a deeper one is an attack on the reader's stack. */
const maxDepth = 128;
const blank = /[ \t\n\r]*/y;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const wordToken = /true|false|null/y;

/**
 * Reads JSON text strictly; an object that has a member twice is refused, since readers disagree on which of the two counts.
 * @param maxValues Refused beyond it, before memory is spent on them.
 * @throws {RelayError} `DEFINITION_INVALID`
 */
export function readJsonNode(text: string, maxValues: number = Number.POSITIVE_INFINITY): JsonNode {
  const reader = { text, at: 0, left: maxValues };
  const node = readValue(reader, 0);
  take(reader, blank);
  if (reader.at !== text.length) throw invalid(reader, "end of text");
  return node;
}

/** Canonical text: members sorted by UTF-16 code units, strings as RFC 8785 writes them, number literals as they were. */
export function printCanonical(node: JsonNode): string {
  if (node.kind === "leaf") return node.text;
  if (node.kind === "array") return `[${node.items.map(printCanonical).join(",")}]`;
  const members = [...node.members].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${printCanonical(value)}`).join(",")}}`;
}

/** The string that a leaf holds, or undefined when it is no string. */
export function stringOf(node: JsonNode | undefined): string | undefined {
  if (node?.kind !== "leaf" || !node.text.startsWith('"')) return undefined;
  const value: unknown = JSON.parse(node.text);
  return typeof value === "string" ? value : undefined;
}

interface Reader {
  readonly text: string;
  at: number;
  /** Values that may still come. */
  left: number;
}

function readValue(reader: Reader, depth: number): JsonNode {
  if (depth > maxDepth) throw new RelayError("DEFINITION_INVALID", `nested deeper than ${maxDepth} levels`);
  reader.left -= 1;
  if (reader.left < 0) throw new RelayError("DEFINITION_INVALID", "too many values");
  take(reader, blank);
  const first = reader.text[reader.at];
  if (first === "{") return readObject(reader, depth);
  if (first === "[") return readArray(reader, depth);
  if (first === '"') return { kind: "leaf", text: JSON.stringify(readString(reader)) };
  const text = take(reader, numberToken) ?? take(reader, wordToken);
  if (text === undefined) throw invalid(reader, "a value");
  return { kind: "leaf", text };
}

function readObject(reader: Reader, depth: number): JsonNode {
  const members = new Map<string, JsonNode>();
  readItems(reader, "}", () => {
    const name = readString(reader);
    take(reader, blank);
    expect(reader, ":");
    if (members.has(name)) throw new RelayError("DEFINITION_INVALID", `member ${JSON.stringify(name)} occurs twice`);
    members.set(name, readValue(reader, depth + 1));
  });
  return { kind: "object", members };
}

function readArray(reader: Reader, depth: number): JsonNode {
  const items: JsonNode[] = [];
  readItems(reader, "]", () => items.push(readValue(reader, depth + 1)));
  return { kind: "array", items };
}

/** The opening bracket, items separated by commas, and the closing bracket. */
function readItems(reader: Reader, end: string, readItem: () => void): void {
  reader.at += 1;
  take(reader, blank);
  if (reader.text[reader.at] === end) {
    reader.at += 1;
    return;
  }
  for (;;) {
    take(reader, blank);
    readItem();
    take(reader, blank);
    if (reader.text[reader.at] !== ",") break;
    reader.at += 1;
  }
  expect(reader, end);
}

function readString(reader: Reader): string {
  const end = reader.text[reader.at] === '"' ? closingQuote(reader.text, reader.at + 1) : -1;
  if (end === -1) throw invalid(reader, "a string");
  const token = reader.text.slice(reader.at, end + 1);
  reader.at = end + 1;
  try {
    const value: unknown = JSON.parse(token);
    if (typeof value === "string") return value;
  } catch {
    // A bad escape or a raw control character: reported below, with its place.
  }
  throw invalid(reader, "a well-formed string before");
}

/** The next quote before which there is an even number of backslashes. */
function closingQuote(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (first > from && text[first - 1] === "\\") first -= 1;
    if ((quote - first) % 2 === 0) return quote;
  }
  return -1;
}

function expect(reader: Reader, character: string): void {
  if (reader.text[reader.at] !== character) throw invalid(reader, JSON.stringify(character));
  reader.at += 1;
}

function take(reader: Reader, pattern: RegExp): string | undefined {
  pattern.lastIndex = reader.at;
  const match = pattern.exec(reader.text);
  if (match === null) return undefined;
  reader.at += match[0].length;
  return match[0];
}

function invalid(reader: Reader, expected: string): RelayError {
  return new RelayError("DEFINITION_INVALID", `not JSON: expected ${expected} at character ${reader.at}`);
}
