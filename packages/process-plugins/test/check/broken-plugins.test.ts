import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { type CheckReport, checkPlugin } from "../../src/check.js";

const fixtures = fileURLToPath(new URL("../../../../fixtures/broken-plugins/", import.meta.url));

/** What git cannot hold, made in a copy. */
const made: Readonly<Record<string, (folder: string) => void>> = {
  "set-user-id": (folder) => chmodSync(join(folder, "bin/plugin"), 0o4755),
  "group-writable": (folder) => chmodSync(join(folder, "bin"), 0o775),
  "named-pipe": (folder) => void spawnSync("mkfifo", [join(folder, "bin/pipe")]),
};
/** One that never answers would be waited for long. */
const timeouts: Readonly<Record<string, { readonly createMs: number }>> = { "never-answers": { createMs: 500 } };

interface Row {
  readonly name: string;
  /** Every finding that fails, and the words that it says. */
  readonly fails: Readonly<Record<string, readonly string[]>>;
}

/** The table of the README: a row without a folder belongs to the one before it. */
function readTable(): readonly Row[] {
  const rows: { readonly name: string; readonly fails: Record<string, readonly string[]> }[] = [];
  for (const line of readFileSync(join(fixtures, "README.md"), "utf8").split("\n")) {
    const [folder = "", , finding = "", says = ""] = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    const words = [...says.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
    if (words.length === 0) continue;
    if (folder !== "") rows.push({ name: folder, fails: {} });
    const row = rows.at(-1);
    if (row) row.fails[finding] = words;
  }
  return rows;
}

const rows = readTable();
let scratch = "";
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "broken-plugins-"));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A copy whose modes are those of a careful checkout, whatever the umask of this one was. */
function stage(name: string): string {
  const folder = join(scratch, name);
  cpSync(join(fixtures, name), folder, { recursive: true, verbatimSymlinks: true });
  spawnSync("chmod", ["-R", "go-w", folder]);
  made[name]?.(folder);
  return folder;
}

function failuresOf({ findings }: CheckReport): ReadonlyMap<string, string> {
  return new Map(findings.filter(({ outcome }) => outcome === "failed").map(({ name, seen }) => [name, seen]));
}

describe("a broken plugin", () => {
  it("of each folder is in the table of the README, and there are twenty of them at least", () => {
    const folders = readdirSync(fixtures, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(rows.map(({ name }) => name).sort()).toEqual(folders.map(({ name }) => name).sort());
    expect(rows.length).toBeGreaterThanOrEqual(20);
  });

  for (const { name, fails } of rows) {
    partTest("bubblewrap")(`is told what is wrong with it, and no more: ${name}`, async () => {
      const report = await checkPlugin({ folder: stage(name), timeouts: timeouts[name] });
      const failures = failuresOf(report);
      expect(report.ok).toBe(false);
      expect([...failures.keys()]).toEqual(Object.keys(fails));
      for (const [finding, words] of Object.entries(fails)) {
        for (const each of words) expect(failures.get(finding)).toContain(each);
      }
      for (const { outcome, advice } of report.findings) {
        if (outcome === "failed") expect(advice).toMatch(/\w+ \w+/);
      }
    });
  }
});
