import type { LineCounter, Node } from "yaml";

const MAX_TEXT_CHARS = 1_048_576;
const MAX_OPEN_BRACKETS = 256;
const MAX_ALIASES = 100;

/** Where something stands in a document. */
export type YamlPath = readonly PropertyKey[];

/** A document as plain values, with the line of each of them. */
export interface YamlText {
  readonly value: unknown;
  /** The line of the key or item at a path, or of the nearest place above it that exists. */
  lineOf(path: YamlPath): number;
}

/** A fault of a document. */
export interface YamlFault {
  readonly line: number;
  readonly message: string;
}

/** A document, or everything that is wrong with its form. */
export type YamlReading =
  | { readonly ok: true; readonly text: YamlText }
  | { readonly ok: false; readonly faults: readonly YamlFault[] };

/**
 * Reads YAML 1.2, with merge keys as other readers of these files have them. Bounded in size, nesting and aliases, so that
 * a small file cannot grow into a large one.
 */
export async function readYamlText(text: string): Promise<YamlReading> {
  if (text.length > MAX_TEXT_CHARS) return fault(1, `it is longer than ${MAX_TEXT_CHARS} characters`);
  // The parser descends by recursion; brackets nest for one character each.
  if (countOpenBrackets(text) > MAX_OPEN_BRACKETS)
    return fault(1, `over ${MAX_OPEN_BRACKETS} brackets are open at once`);
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  try {
    const document = yaml.parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      merge: true,
      logLevel: "error",
    });
    if (document.errors.length > 0) {
      return {
        ok: false,
        faults: document.errors.map(({ pos, message }) => ({ line: lines.linePos(pos[0]).line, message })),
      };
    }
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    const { contents } = document;
    return { ok: true, text: { value, lineOf: (path) => lineOf(yaml, lines, contents, path) } };
  } catch (error) {
    // A stack that overflows, and aliases that grow without end, are both told as what they are: a file to refuse.
    const isDeep = error instanceof RangeError;
    return fault(1, isDeep ? "it is nested too deeply" : "its aliases repeat too much");
  }
}

function fault(line: number, message: string): YamlReading {
  return { ok: false, faults: [{ line, message }] };
}

function countOpenBrackets(text: string): number {
  let open = 0;
  let most = 0;
  for (const character of text) {
    if (character === "[" || character === "{") open += 1;
    else if ((character === "]" || character === "}") && open > 0) open -= 1;
    if (open > most) most = open;
  }
  return most;
}

type Yaml = typeof import("yaml");

function lineOf(yaml: Yaml, lines: LineCounter, contents: Node | null, path: YamlPath): number {
  let node: unknown = contents;
  let offset = startOf(yaml, node) ?? 0;
  for (const step of path) {
    let next: unknown;
    if (yaml.isSeq(node)) {
      next = node.items[Number(step)];
      offset = startOf(yaml, next) ?? offset;
    } else if (yaml.isMap(node)) {
      const pair = node.items.find(({ key }) => yaml.isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) break;
      offset = startOf(yaml, pair.key) ?? offset;
      next = pair.value;
    } else break;
    node = next;
  }
  return lines.linePos(offset).line;
}

function startOf(yaml: Yaml, node: unknown): number | undefined {
  return yaml.isNode(node) ? node.range?.[0] : undefined;
}
