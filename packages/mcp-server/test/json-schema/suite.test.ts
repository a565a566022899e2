import { existsSync } from "node:fs";
import type { JsonValue } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { createSchemaCompiler, SchemaError } from "../../src/json-schema/index.js";
import { listFiles, readDocuments, readGroups, type SuiteGroup, suiteFolder } from "./suite.js";

type Documents = ReadonlyMap<string, JsonValue>;

/** Judgements of the suite that differ from ours; a schema that is refused differs in each of its tests. */
function differences(group: SuiteGroup, documents: Documents): readonly string[] {
  const answer = (data: JsonValue): boolean | string => {
    try {
      return createSchemaCompiler(undefined, documents).compile(group.schema).validate(data).valid;
    } catch (error) {
      if (error instanceof SchemaError) return error.code;
      throw error;
    }
  };
  return group.tests
    .filter(({ data, valid }) => answer(data) !== valid)
    .map((test) => `${group.description}: ${test.description}`);
}

/** Optional tests that do not hold, by what they ask for. All others do. */
const leftOut = new Map([
  ["optional/cross-draft.json", "a document in the dialect 2019-09, which is refused"],
  ["optional/dependencies-compatibility.json", "`dependencies`, which 2020-12 has replaced"],
  ["optional/format-assertion.json", "a vocabulary in which `format` can fail; here it is an annotation"],
]);

// Asked when the file is read, since the suite's files are the rows of a table: without them there is nothing to list.
if (existsSync(suiteFolder)) describe("the official suite for 2020-12", judgeSuite);
else partTest("json-schema-suite")("the official suite for 2020-12", () => undefined);

function judgeSuite(): void {
  const documents = readDocuments(suiteFolder);
  const required = listFiles(suiteFolder, "");
  const optional = listFiles(suiteFolder, "optional").filter((file) => !leftOut.has(file));

  it.each([...required, ...optional])("%s holds", (file) => {
    expect(readGroups(suiteFolder, file).flatMap((group) => differences(group, documents))).toEqual([]);
  });

  it("is there as a whole, and all that is required holds", () => {
    const groups = required.flatMap((file) => readGroups(suiteFolder, file));
    const total = groups.reduce((sum, group) => sum + group.tests.length, 0);
    const failed = groups.flatMap((group) => differences(group, documents)).length;
    console.log(`JSON-Schema-Test-Suite 2020-12, required: ${total - failed} of ${total}`);
    expect(total).toBeGreaterThan(1_200);
    expect(failed).toBe(0);
  });

  it.each([...leftOut.keys()])("%s is the only kind that is left out", (file) => {
    expect(readGroups(suiteFolder, file).flatMap((group) => differences(group, documents))).not.toEqual([]);
  });
}
