import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { appFolder } from "./shipyard.js";

const readme = readFileSync(join(appFolder, "README.md"), "utf8");

/** Rows of the tables whose last column is the test. */
function testedRows(): readonly { readonly row: string; readonly tests: readonly string[] }[] {
  const tables = [...readme.matchAll(/^\|.*\| Test \|\n\|[ |-]+\n((?:\|.*\n)+)/gm)];
  return tables
    .flatMap(([, rows = ""]) => rows.trim().split("\n"))
    .map((row) => ({
      row,
      tests:
        row
          .split("|")
          .at(-2)
          ?.match(/test\/[\w./-]+/g) ?? [],
    }));
}

it("each guarantee and each promise of the README names a test that there is", () => {
  const rows = testedRows();
  expect(rows.length).toBeGreaterThanOrEqual(18);
  for (const { row, tests } of rows) {
    expect(tests.length, row).toBeGreaterThan(0);
    for (const path of tests) expect(existsSync(join(appFolder, path)), path).toBe(true);
  }
});
