import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { fixturePlugins, fixturesFolder, skipWithoutPart } from "../support/fixture-plugins.js";

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

/** Skips with the reason where something is missing; under BERTH_REQUIRE=all that is a failure. */
export function readyPlugin(name: FixtureName, context: TestContext): ReadyPlugin {
  for (const plugin of fixturePlugins) if (plugin.name === name) skipWithoutPart(context, plugin);
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
