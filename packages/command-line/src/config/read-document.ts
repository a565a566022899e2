import { isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from "yaml";
import type { DocumentCheck, DocumentReading } from "./document.js";

/**
 * Reads a YAML text (1.2, core schema, one document; a key twice is a fault) and lets `check` judge its value; an empty text is
 * an empty mapping. Faults come back with the lines of the keys and items that they name, or of the nearest place above that
 * exists. Throws only what `check` throws.
 */
export function readDocument<T>(text: string, check: (value: unknown) => DocumentCheck<T>): DocumentReading<T> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({ line: lineAt(error.pos[0]), message: error.message }));
    return { ok: false, problems };
  }
  const checked = check(plainValue(document) ?? {});
  if (checked.ok) return checked;
  const problems = checked.faults.map(({ path, message }) => ({
    line: lineAt(placeOf(document.contents, path)),
    message,
  }));
  return { ok: false, problems: problems.sort((a, b) => a.line - b.line) };
}

/** Aliases that would grow without end count as a text, which no schema of a mapping takes. */
function plainValue(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS();
  } catch {
    return "aliases";
  }
}

/** Offset of the key or item at `path`, or of the nearest place above it that exists. */
function placeOf(root: ParsedNode | null, path: readonly PropertyKey[]): number {
  let node: unknown = root;
  let offset = root?.range[0] ?? 0;
  for (const step of path) {
    if (isSeq(node)) {
      node = node.items[Number(step)];
      if (isScalar(node) || isMap(node) || isSeq(node)) offset = node.range?.[0] ?? offset;
      continue;
    }
    if (!isMap(node)) return offset;
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
    if (pair === undefined) return offset;
    if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
    node = pair.value;
  }
  return offset;
}
