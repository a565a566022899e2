/** Reads the official JSON-Schema-Test-Suite and what its schemas refer to. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

/** The documents that the suite's schemas refer to: its `remotes`. The meta-schemas are known to every compiler. */
export function readDocuments(suite: string): ReadonlyMap<string, JsonValue> {
  const documents = new Map<string, JsonValue>();
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

/** Where `node scripts/parts.mjs` puts the suite, from the source archive of PyPI's `jsonschema`, which carries it. */
export const suiteFolder: string = join(scratchFolder, "json-schema-suite");
