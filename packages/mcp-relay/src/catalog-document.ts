import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";

/** One thing that is wrong with a document, at its place. */
export interface DocumentProblem {
  /** From 1; of the value or key that is meant. */
  readonly line: number;
  readonly column: number;
  /** Such as `servers.github.spawn.digest`; empty for the whole document. */
  readonly path: string;
  readonly message: string;
}

/** Steps from the root of a document to a value in it. */
export type DocumentPath = readonly (string | number)[];

/** A JSON document with the places of its values. */
export interface JsonDocument {
  /** Plain values; objects have no prototype and their own keys only. Undefined when the text is not JSON. */
  readonly value: unknown;
  readonly problems: readonly DocumentProblem[];
  /** A problem at the value of `path`, or at its nearest ancestor that exists; `key` asks for the place of the key. */
  problemAt(path: DocumentPath, message: string, place?: "value" | "key"): DocumentProblem;
  /** The text of the value at `path` as it was written; undefined when there is none. */
  textAt(path: DocumentPath): string | undefined;
}

/** What a reader of JSON with or without comments may be asked to accept. */
export interface JsonDocumentOptions {
  /** Accepts comments and trailing commas, as editors' own settings files use them. Default false. */
  readonly comments?: boolean | undefined;
  /** Largest text in UTF-16 units. Default 16 Mi. */
  readonly maxLength?: number | undefined;
}

/** Nesting that is refused: far above any real document, far below what a recursive parser survives. */
const maxDepth = 200;

/** Reads a text as JSON, with every problem of its form: syntax, duplicate keys, depth and size. Never throws. */
export function readJsonDocument(text: string, options: JsonDocumentOptions = {}): JsonDocument {
  const lineAt = createLineFinder(text);
  const rejected = rejectedUnparsed(text, options.maxLength ?? 16 * 1024 * 1024);
  if (rejected !== undefined) return withoutTree([{ ...lineAt(rejected.offset), path: "", message: rejected.message }]);
  const errors: ParseError[] = [];
  const comments = options.comments ?? false;
  const root = parseTree(text, errors, { disallowComments: !comments, allowTrailingComma: comments });
  const syntax = errors.slice(0, 20).map((error) => ({
    ...lineAt(error.offset),
    path: "",
    message: syntaxMessage(error, text),
  }));
  if (root === undefined || syntax.length > 0) {
    return withoutTree(
      syntax.length > 0 ? syntax : [{ line: 1, column: 1, path: "", message: "the document is empty" }],
    );
  }
  const problemAt = (path: DocumentPath, message: string, place: "value" | "key" = "value"): DocumentProblem => ({
    ...lineAt(placeOf(root, path, place)),
    path: showPath(path),
    message,
  });
  return {
    value: plainValue(root),
    problems: duplicateKeys(root, (node, path, key) => ({
      ...lineAt(node.offset),
      path: showPath([...path, key]),
      message: "this key occurs twice in the same object",
    })),
    problemAt,
    textAt: (path) => {
      const node = nodeAt(root, path);
      return node === undefined ? undefined : text.slice(node.offset, node.offset + node.length);
    },
  };
}

/** Shows a path the way a person would write it: `servers.github.spawn.args[2]`. */
export function showPath(path: DocumentPath): string {
  return path
    .map((step, index) => {
      if (typeof step === "number") return `[${step}]`;
      const plain = /^[\w$-]+$/u.test(step) ? step : JSON.stringify(step);
      return index === 0 ? plain : `.${plain}`;
    })
    .join("");
}

function withoutTree(problems: readonly DocumentProblem[]): JsonDocument {
  return {
    value: undefined,
    problems,
    problemAt: (path, message) => ({ line: 1, column: 1, path: showPath(path), message }),
    textAt: () => undefined,
  };
}

/** Size and depth are checked by a loop over the text, before the recursive parser sees it. */
function rejectedUnparsed(text: string, maxLength: number): { offset: number; message: string } | undefined {
  if (text.length > maxLength) return { offset: 0, message: `longer than ${maxLength} characters` };
  if (text.charCodeAt(0) === 0xfeff) {
    return { offset: 0, message: "begins with a byte order mark; save it as UTF-8 without one" };
  }
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (inString && unit === 0x5c) index += 1;
    else if (unit === 0x22 || (inString && unit === 0x0a)) inString = unit === 0x22 && !inString;
    else if (!inString && (unit === 0x7b || unit === 0x5b)) depth += 1;
    else if (!inString && (unit === 0x7d || unit === 0x5d)) depth -= 1;
    if (depth > maxDepth) return { offset: index, message: `nested deeper than ${maxDepth} levels` };
  }
  return undefined;
}

function syntaxMessage(error: ParseError, text: string): string {
  const code = printParseErrorCode(error.error);
  if (code === "InvalidCommentToken") return "comments are not JSON";
  const words = code.replace(/([a-z])([A-Z])/gu, "$1 $2").toLowerCase();
  const found = text.slice(error.offset, error.offset + Math.min(error.length, 20));
  return found === "" ? `not JSON: ${words}` : `not JSON: ${words} at ${JSON.stringify(found)}`;
}

function createLineFinder(text: string): (offset: number) => { line: number; column: number } {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function keyOf(property: Node): string {
  const value: unknown = property.children?.[0]?.value;
  return typeof value === "string" ? value : "";
}

function plainValue(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(plainValue);
  if (node.type !== "object") return node.value;
  const object: Record<string, unknown> = Object.create(null);
  for (const property of node.children ?? []) {
    const value = property.children?.[1];
    if (value !== undefined) object[keyOf(property)] = plainValue(value);
  }
  return object;
}

function propertyOf(node: Node, key: string): Node | undefined {
  return node.type === "object" ? node.children?.findLast((property) => keyOf(property) === key) : undefined;
}

function nodeAt(root: Node, path: DocumentPath): Node | undefined {
  return path.reduce<Node | undefined>((node, step) => {
    if (node === undefined) return undefined;
    return typeof step === "number" ? node.children?.[step] : propertyOf(node, step)?.children?.[1];
  }, root);
}

function placeOf(root: Node, path: DocumentPath, place: "value" | "key"): number {
  const last = path.at(-1);
  const parent = nodeAt(root, path.slice(0, -1));
  if (place === "key" && typeof last === "string" && parent !== undefined) {
    const property = propertyOf(parent, last);
    if (property !== undefined) return property.offset;
  }
  const node = nodeAt(root, path);
  if (node !== undefined) return node.offset;
  return path.length === 0 ? root.offset : placeOf(root, path.slice(0, -1), "key");
}

function duplicateKeys(
  root: Node,
  report: (property: Node, path: DocumentPath, key: string) => DocumentProblem,
): DocumentProblem[] {
  const problems: DocumentProblem[] = [];
  const visit = (node: Node, path: DocumentPath): void => {
    if (node.type === "array")
      for (const [index, child] of (node.children ?? []).entries()) visit(child, [...path, index]);
    if (node.type !== "object") return;
    const seen = new Set<string>();
    for (const property of node.children ?? []) {
      const key = keyOf(property);
      if (seen.has(key)) problems.push(report(property, path, key));
      seen.add(key);
      const value = property.children?.[1];
      if (value !== undefined) visit(value, [...path, key]);
    }
  };
  visit(root, []);
  return problems;
}
