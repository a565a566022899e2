import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestContext } from "vitest";
import type { PartName } from "../../../../fixtures/parts.js";

/** Where the plugins are that are good. */
export const fixturesFolder: string = fileURLToPath(new URL("../../../../fixtures/plugins/", import.meta.url));

/** One plugin in five languages, and what each needs of this machine. */
export interface FixturePlugin {
  readonly name: string;
  readonly parts: readonly PartName[];
  /** A part that is found by asking; `install` says how to get it. */
  readonly asked?: {
    readonly command: readonly string[];
    readonly absent: number | undefined;
    readonly install: string;
  };
}

export const fixturePlugins: readonly FixturePlugin[] = [
  {
    name: "smoke-mcp",
    parts: [],
    asked: {
      command: [process.execPath, join(fixturesFolder, "prepare-python.mjs"), "--find"],
      absent: 3,
      install: "set AVE_SMOKE_PYTHON to a Python of 3.10 or later, or install uv",
    },
  },
  { name: "smoke-python", parts: ["python3"] },
  { name: "smoke-typescript", parts: [] },
  {
    name: "smoke-c",
    parts: ["cc"],
  },
  { name: "smoke-shell", parts: [] },
];

/** Skips by name where what the plugin needs is absent; under BERTH_REQUIRE=all its absence is a failure. */
export function skipWithoutPart(context: TestContext, { name, asked }: FixturePlugin): void {
  if (asked === undefined) return;
  const [file = "", ...args] = asked.command;
  const { status, stderr } = spawnSync(file, args, { encoding: "utf8", timeout: 120_000 });
  if (status === 0) return;
  const isAbsent = asked.absent === undefined ? status === null : status === asked.absent;
  const reason = `${name} needs ${asked.command.join(" ")}: ${asked.install}`;
  if (!isAbsent) throw new Error(`${reason}: ${stderr}`);
  if (process.env["BERTH_REQUIRE"] === "all") throw new Error(reason);
  context.skip(reason);
}
