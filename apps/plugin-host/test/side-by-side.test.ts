import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { partTest, scratchFolder } from "../../../fixtures/parts.js";
import { makeWorld } from "./plugin-host.js";

const world = makeWorld();

const source = `
from importlib.metadata import version
import click

class Teller:
    def __init__(self, config):
        self.name = config["name"]
    async def tool_pre_invoke(self, payload, context):
        can = hasattr(click.Command, "shell_complete")
        return {"continue_processing": True, "metadata": {self.name: [version("click"), can]}}
`;

partTest("cpex-wheels", "python3-venv")(
  "two plugins that pin versions of one package which exclude each other are run by one command, each with its own",
  async () => {
    for (const wheel of ["click-7.1.2-py2.py3-none-any.whl", "click-8.1.8-py3-none-any.whl"])
      copyFileSync(join(scratchFolder, "cpex-wheels", wheel), join(world.folder, "wheels", wheel));
    for (const [name, version] of Object.entries({ old: "7.1.2", new: "8.1.8" })) {
      const folder = join(world.folder, "plugins", `${name}_teller`);
      mkdirSync(folder);
      writeFileSync(join(folder, "__init__.py"), source);
      writeFileSync(join(folder, "requirements.txt"), `cpex\nclick==${version}\n`);
    }
    const entry = (name: string): string =>
      `kind: isolated_venv, hooks: [tool_pre_invoke], config: { class_name: ${name}_teller.Teller, requirements_file: requirements.txt }`;
    const config = world.config("both.yaml", { old: entry("old"), new: entry("new") });
    const args = ["invoke", "tool_pre_invoke", "--config", config, "--payload", "-", "--json"];
    const { code, stdout, stderr } = await world.run(args, '{"name":"t"}');
    expect([code, stderr]).toEqual([0, expect.stringContaining("plugin new: starting the worker")]);
    expect(JSON.parse(stdout)).toMatchObject({
      metadata: { old: ["7.1.2", false], new: ["8.1.8", true] },
      executions: [
        { plugin: "old", status: "allowed" },
        { plugin: "new", status: "allowed" },
      ],
    });
    const built = await world.run(["venv", "build", "--config", config, "--json"]);
    expect(JSON.parse(built.stdout)).toMatchObject({ plugins: [{ origin: "cached" }, { origin: "cached" }] });
  },
  120_000,
);
