import type { LineCounter, Node } from "yaml";
import { yamlNesting } from "./yaml-nesting.js";

const MAX_TEXT_CHARS = 262_144;
const MAX_NESTING = 256;
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
  if (yamlNesting(text) > MAX_NESTING) return fault(1, `it is nested deeper than ${MAX_NESTING} levels`);
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  try {
    const document = yaml.parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      merge: true,
      // Its own search compares each key with all others of its mapping: minutes for a file of short keys.
      uniqueKeys: false,
      logLevel: "error",
    });
    const faults = [
      ...document.errors.map(({ pos, message }) => ({ line: lines.linePos(pos[0]).line, message })),
      ...keysTwice(yaml, lines, document.contents),
    ];
    if (faults.length > 0) return { ok: false, faults };
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    const { contents } = document;
    return { ok: true, text: { value, lineOf: (path) => lineOf(yaml, lines, contents, path) } };
  } catch {
    return fault(1, "its aliases repeat too much"); // the one thing of which the parser throws
  }
}

function fault(line: number, message: string): YamlReading {
  return { ok: false, faults: [{ line, message }] };
}

type Yaml = typeof import("yaml");

function keysTwice(yaml: Yaml, lines: LineCounter, contents: Node | null): readonly YamlFault[] {
  const faults: YamlFault[] = [];
  yaml.visit(contents, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!yaml.isScalar(key) || key.value === "<<") continue;
        const line = lines.linePos(startOf(yaml, key) ?? 0).line;
        if (seen.has(key.value)) faults.push({ line, message: `key ${String(key.value)} is there twice` });
        seen.add(key.value);
      }
    },
  });
  return faults;
}

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
