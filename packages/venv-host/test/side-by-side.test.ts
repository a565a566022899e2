import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { partTest, scratchFolder } from "../../../fixtures/parts.js";
import { createPluginHost, readPluginsConfig } from "../src/executor.js";
import { type EnvironmentStore, isolatedVenv, openEnvironmentStore } from "../src/index.js";
import { preferUv } from "./environments/world.js";
import { makeCwd, temporaryFolder } from "./isolated-venv/plugins.js";

const wheels = join(scratchFolder, "cpex-wheels");

/** A plugin over the real framework that says which click it has, by its record and by what only the later one can do. */
const source = `
import sys
from importlib.metadata import version
import click
from cpex.framework import Plugin, ToolPreInvokeResult

class Teller(Plugin):
    async def tool_pre_invoke(self, payload, context):
        told = {"click": version("click"), "has_shell_completion": hasattr(click.Command, "shell_complete")}
        return ToolPreInvokeResult(metadata={self.config.name: {**told, "prefix": sys.prefix}})
`;

/** A plugin for each name, with requirements of its own. */
function makePlugins(pins: Readonly<Record<string, readonly string[]>>): string {
  const cwd = makeCwd();
  for (const [name, lines] of Object.entries(pins)) {
    const folder = join(cwd, "plugins", `${name}_teller`);
    mkdirSync(folder);
    writeFileSync(join(folder, "__init__.py"), source);
    const requirements = ["cpex==0.1.4", "mcp==2.3.0", ...lines];
    writeFileSync(join(folder, "requirements.txt"), requirements.map((line) => `${line}\n`).join(""));
  }
  return cwd;
}

const entry = (name: string): string => `
  - { name: ${name}, kind: isolated_venv, hooks: [tool_pre_invoke],
      config: { class_name: ${name}_teller.Teller, requirements_file: requirements.txt } }`;

const openStore = (): Promise<EnvironmentStore> =>
  openEnvironmentStore({
    path: join(temporaryFolder(), "store"),
    index: { from: "wheels", folders: [wheels] },
    installer: preferUv(),
  });

describe("two plugins whose requirements exclude each other", () => {
  partTest("cpex-wheels", "uv")(
    "run side by side in one host, each with its own version",
    async () => {
      const cwd = makePlugins({ old: ["click==7.1.2"], new: ["click==8.1.8"] });
      await using store = await openStore();
      const config = await readPluginsConfig(`plugins:${entry("old")}${entry("new")}\n`);
      const kinds = [isolatedVenv({ cwd, acquire: store.acquire, limits: { startTimeoutMs: 120_000 } })];
      await using host = createPluginHost({ config, kinds });
      const { allowed, metadata } = await host.run({
        hook: "tool_pre_invoke",
        payload: { name: "t", args: {} },
        globalContext: { state: {}, metadata: {} },
      });
      expect({ allowed, metadata }).toMatchObject({
        allowed: true,
        metadata: {
          old: { click: "7.1.2", has_shell_completion: false },
          new: { click: "8.1.8", has_shell_completion: true },
        },
      });
      const digests = host.list().map(({ evidence }) => evidence?.["environmentDigest"]);
      expect(new Set(digests).size).toBe(2);
      expect(await store.list()).toHaveLength(2);
    },
    180_000,
  );

  partTest("cpex-wheels", "uv")("have no environment in common", async () => {
    const cwd = makePlugins({ both: ["click==7.1.2", "click==8.1.8"] });
    await using store = await openStore();
    const requirements = join(cwd, "plugins", "both_teller", "requirements.txt");
    await expect(store.acquire({ requirements })).rejects.toMatchObject({
      code: "VENV_BUILD_FAILED",
      details: { step: "install", stderrExcerpt: expect.stringMatching(/click==8\.1\.8/u) },
    });
  });
});
