import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestContext } from "vitest";

/** Where the fixture plugins lie. */
export const fixturesFolder: string = fileURLToPath(new URL("../../../../fixtures/plugins/", import.meta.url));
export const pythonPreparer: string = join(fixturesFolder, "prepare-python.mjs");

/** The five, each in its language. */
export const fixtureNames = ["smoke-mcp", "smoke-python", "smoke-typescript", "smoke-c", "smoke-shell"] as const;
export type FixtureName = (typeof fixtureNames)[number];

/** A copy of a fixture plugin that was made ready, as `check` does it. */
export interface ReadyPlugin {
  readonly root: string;
  readonly command: string;
  remove(): void;
}

const prepareMs = 600_000;

/** What a fixture needs of this machine and does not find; undefined when all is there. */
function missingFor(name: FixtureName): string | undefined {
  const ends = (file: string, ...args: readonly string[]): boolean => spawnSync(file, args).status === 0;
  if (name === "smoke-c") return ends("cc", "--version") ? undefined : "cc: apt-get install gcc libc6-dev";
  if (name === "smoke-python") return ends("/usr/bin/python3", "--version") ? undefined : "apt-get install python3";
  if (name !== "smoke-mcp") return undefined;
  const { status, stderr } = spawnSync(process.execPath, [pythonPreparer, "--find"], { encoding: "utf8" });
  return status === 0 ? undefined : stderr.trim();
}

/** Skips with the reason where something is missing; under BERTH_REQUIRE=all that is a failure. */
export function readyPlugin(name: FixtureName, context: TestContext): ReadyPlugin {
  const missing = missingFor(name);
  if (missing !== undefined && process.env["BERTH_REQUIRE"] === "all") throw new Error(`${name} needs ${missing}`);
  if (missing !== undefined) context.skip(`${name} needs ${missing}`);
  const source = join(fixturesFolder, name);
  const folder = mkdtempSync(join(tmpdir(), "berth-fixture-"));
  const root = join(folder, "plugin");
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  cpSync(source, root, { recursive: true });
  const [file, ...args] = prepareOf(root);
  if (file !== undefined) {
    const env = { ...process.env, PLUGIN_SOURCE: source };
    const { status, stderr } = spawnSync(file, args, { cwd: root, env, timeout: prepareMs, encoding: "utf8" });
    if (status !== 0) {
      remove();
      throw new Error(`${name} could not be prepared: ${stderr}`);
    }
  }
  return { root, command: join(root, "bin", "plugin"), remove };
}

function prepareOf(root: string): readonly string[] {
  const check: unknown = JSON.parse(readFileSync(join(root, "check.json"), "utf8"));
  const prepare = typeof check === "object" && check !== null && "prepare" in check ? check.prepare : [];
  return Array.isArray(prepare) ? prepare.map(String) : [];
}
