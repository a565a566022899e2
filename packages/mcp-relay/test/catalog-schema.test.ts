import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { type CatalogSchema, findMismatches } from "../src/catalog-schema.js";
import { changed, fullCatalog, invalidChanges, validChanges } from "./catalog.samples.js";

const schema: CatalogSchema = JSON.parse(
  readFileSync(new URL("../schema/catalog.schema.json", import.meta.url), "utf8"),
);
const ajv = new Ajv2020({
  strict: true,
  allErrors: true,
  allowUnionTypes: true,
  strictTypes: false,
  strictRequired: false,
});
const validate = ajv.compile(schema);
const agree = (value: unknown) => ({ ours: findMismatches(value, schema).length === 0, ajv: validate(value) });

describe("the published schema, as the reader applies it", () => {
  it("accepts what it should, with ajv", () => {
    for (const { name, path, value } of validChanges) {
      expect({ name, ...agree(changed(fullCatalog, path, value)) }).toEqual({ name, ours: true, ajv: true });
    }
  });

  it("refuses what it should, with ajv", () => {
    for (const { name, path, value } of invalidChanges) {
      expect({ name, ...agree(changed(fullCatalog, path, value)) }).toEqual({ name, ours: false, ajv: false });
    }
  });

  it("names a place for every place that ajv names", () => {
    for (const { path, value } of invalidChanges) {
      const document = changed(fullCatalog, path, value);
      validate(document);
      const theirs = new Set(
        (validate.errors ?? []).map((error) => error.instancePath.split("/").slice(0, 4).join("/")),
      );
      const ours = new Set(
        findMismatches(document, schema).map((misfit) => ["", ...misfit.path].slice(0, 4).join("/")),
      );
      for (const place of theirs) expect([...ours].some((mine) => mine.startsWith(place))).toBe(true);
    }
  });

  const junk = fc.oneof(
    fc.constantFrom(null, "", "stdio", "http-sse", "unpinned", "env:A", "env:", 0, 1, 1024, -1, 1.5, [], {}, true),
    fc.constantFrom(`sha256:${"a".repeat(64)}`, { command: "x" }, ["a", "a"], ["\u0000"], "a\u{1f600}", "\u0000"),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const places = [...validChanges, ...invalidChanges].map(({ path }) => path);
  const edits = fc.array(fc.tuple(fc.constantFrom(...places), fc.option(junk, { nil: undefined })), { maxLength: 6 });

  it("agrees with ajv on catalogs changed at random", () => {
    fc.assert(
      fc.property(edits, (changes) => {
        const document = changes.reduce<unknown>((value, [path, member]) => changed(value, path, member), fullCatalog);
        const { ours, ajv } = agree(document);
        expect(ours).toBe(ajv);
      }),
      { numRuns: scaledCount("changed catalogs", 100_000) },
    );
  }, 120_000);

  it("uses no keyword that the reader would pass over", () => {
    const known = new Set(
      (
        "$ref $defs $schema $id title description writeOnly type const enum pattern minLength maxLength minimum maximum required " +
        "properties propertyNames additionalProperties maxProperties items minItems maxItems uniqueItems allOf if then not"
      ).split(" "),
    );
    const visit = (part: unknown): void => {
      if (typeof part !== "object" || part === null) return;
      for (const [keyword, value] of Object.entries(part)) {
        expect(known).toContain(keyword);
        if (keyword === "properties" || keyword === "$defs") for (const child of Object.values(value)) visit(child);
        else if (keyword === "allOf") for (const child of value) visit(child);
        else if (!["enum", "const", "required", "type"].includes(keyword)) visit(value);
      }
    };
    visit(schema);
  });
});
