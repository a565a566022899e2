import schema from "../schema/catalog.schema.json" with { type: "json" };
import type { Catalog, CatalogServer } from "./catalog.js";
import { type DocumentPath, type DocumentProblem, type JsonDocument, readJsonDocument } from "./catalog-document.js";
import { type CatalogSchema, findMismatches, type SchemaMismatch } from "./catalog-schema.js";
import { definitionDigest } from "./drift.js";

/** One thing that is wrong with a catalog, at its line. */
export type CatalogProblem = DocumentProblem;

/** A catalog, or everything that is wrong with the text. */
export type CatalogReading =
  | { readonly ok: true; readonly catalog: Catalog }
  | { readonly ok: false; readonly problems: readonly CatalogProblem[] };

/** Most problems in one report; more help nobody. */
const maxProblems = 100;

/**
 * Reads the text of a `catalog.json`: plain JSON that fits the published schema, no key twice, and every pin's digest
 * that of its definition. Reports every problem at once, in the order of the file. Never throws.
 */
export function readCatalog(text: string): CatalogReading {
  const document = readJsonDocument(text);
  const { value } = document;
  if (Array.isArray(value)) return { ok: false, problems: [document.problemAt([], listAdvice)] };
  // Without a tree there is nothing to check; what the text lacks has been said already.
  const misfits = value === undefined ? [] : findMismatches(value, catalogSchema);
  const problems = [
    ...document.problems,
    ...misfits.map((misfit) => document.problemAt(misfit.path, misfit.message, misfit.place)),
  ];
  if (problems.length === 0 && isCatalogDocument(value, misfits)) {
    problems.push(...wrongPins(value, document));
    if (problems.length === 0)
      return { ok: true, catalog: { version: 1, servers: new Map(Object.entries(value.servers)) } };
  }
  return { ok: false, problems: inFileOrder(problems).slice(0, maxProblems) };
}

const listAdvice =
  'must be an object {"version": 1, "servers": {…}}; a list of tools is another gateway\'s form, which `import` takes';

const catalogSchema: CatalogSchema = schema;

interface CatalogDocument {
  readonly version: 1;
  readonly servers: Readonly<Record<string, CatalogServer>>;
}

/** The schema vouches for the shape: the tests hold it against the type. */
function isCatalogDocument(value: unknown, misfits: readonly SchemaMismatch[]): value is CatalogDocument {
  return misfits.length === 0 && value !== undefined;
}

function wrongPins(document: CatalogDocument, text: JsonDocument): CatalogProblem[] {
  const problems: CatalogProblem[] = [];
  for (const [name, { tools }] of Object.entries(document.servers)) {
    for (const kind of ["pinned", "pinnedPrompts", "pinnedResourceTemplates"] as const) {
      for (const [key, pin] of Object.entries(tools?.[kind] ?? {})) {
        if (pin.digest === definitionDigest(pin.definition)) continue;
        const path: DocumentPath = ["servers", name, "tools", kind, key, "digest"];
        problems.push(text.problemAt(path, "is not the digest of the definition beside it: pin this server again"));
      }
    }
  }
  return problems;
}

function inFileOrder(problems: readonly CatalogProblem[]): CatalogProblem[] {
  return [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
}
