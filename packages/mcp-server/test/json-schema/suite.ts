/** Reads the official JSON-Schema-Test-Suite and what its schemas refer to. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { JsonValue } from "@berth/jsonrpc-framing";
import { scratchFolder } from "../../../../fixtures/parts.js";

/** A schema of the suite with the instances it judges. */
export interface SuiteGroup {
  readonly description: string;
  readonly schema: JsonValue;
  readonly tests: readonly { readonly description: string; readonly data: JsonValue; readonly valid: boolean }[];
}

function readJson(path: string): JsonValue {
  const value: JsonValue = JSON.parse(readFileSync(path, "utf8"));
  return value;
}

/** The groups of one file, such as `allOf.json` or `optional/bignum.json`. */
export function readGroups(suite: string, file: string): readonly SuiteGroup[] {
  const groups: readonly SuiteGroup[] = JSON.parse(readFileSync(join(suite, "tests", "draft2020-12", file), "utf8"));
  return groups;
}

/** The files of one folder of the suite: "" for the required tests. */
export function listFiles(suite: string, folder: string): readonly string[] {
  const names = readdirSync(join(suite, "tests", "draft2020-12", folder)).toSorted();
  return names.filter((name) => name.endsWith(".json")).map((name) => join(folder, name));
}

/** The documents that the suite's schemas refer to: its `remotes` and the meta-schemas of 2020-12. */
export function readDocuments(suite: string): ReadonlyMap<string, JsonValue> {
  const documents = new Map(metaSchemas());
  const add = (folder: string, uri: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) add(path, `${uri}${entry.name}/`);
      else if (entry.name.endsWith(".json")) documents.set(uri + entry.name, readJson(path));
    }
  };
  add(join(suite, "remotes"), "http://localhost:1234/");
  return documents;
}

/** The meta-schemas of 2020-12, as ajv carries them. */
export function metaSchemas(): ReadonlyMap<string, JsonValue> {
  const folder = dirname(createRequire(import.meta.url).resolve("ajv/dist/refs/json-schema-2020-12/schema.json"));
  const base = "https://json-schema.org/draft/2020-12/";
  const vocabularies = readdirSync(join(folder, "meta")).map((name) => `meta/${name.replace(".json", "")}`);
  return new Map(["schema", ...vocabularies].map((name) => [base + name, readJson(join(folder, `${name}.json`))]));
}

/** Where `node scripts/parts.mjs` puts the suite, from the source archive of PyPI's `jsonschema`, which carries it. */
export const suiteFolder: string = join(scratchFolder, "json-schema-suite");
