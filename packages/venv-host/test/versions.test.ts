import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { type PartName, partTest } from "../../../fixtures/parts.js";
import { createPluginHost, readPluginsConfig } from "../src/executor.js";
import { isolatedVenv, openEnvironmentStore } from "../src/index.js";
import { uvFolder } from "./environments/world.js";
import { makeCwd, temporaryFolder } from "./isolated-venv/plugins.js";

const maker = fileURLToPath(new URL("../../../fixtures/cpex-stub/make_wheel.py", import.meta.url));

const source = `
import platform
class Teller:
    def __init__(self, config):
        pass
    def tool_pre_invoke(self, payload, context):
        return {"metadata": {"python": platform.python_version()}}
`;

const installers: readonly { readonly installer: "uv" | "pip"; readonly parts: readonly PartName[] }[] = [
  { installer: "uv", parts: ["uv"] },
  { installer: "pip", parts: ["python3-venv"] },
];

describe.each(["python3", "python3.10", "python3.12", "python3.13"] as const)("with %s", (interpreter) => {
  for (const { installer, parts } of installers) {
    partTest(interpreter, ...parts)(
      `a plugin that names it as its interpreter runs in it, installed by ${installer}`,
      async () => {
        const cwd = makeCwd();
        const wheels = temporaryFolder();
        execFileSync("python3", [maker, wheels, "0.1.4"]);
        mkdirSync(join(cwd, "plugins", "teller"));
        writeFileSync(join(cwd, "plugins", "teller", "__init__.py"), source);
        writeFileSync(join(cwd, "plugins", "teller", "requirements.txt"), "cpex\n");
        const path = process.env["PATH"];
        process.env["PATH"] = `${uvFolder}:${path}`;
        try {
          await using store = await openEnvironmentStore({
            path: join(temporaryFolder(), "store"),
            index: { from: "wheels", folders: [wheels] },
            installer,
          });
          const block = `class_name: teller.Teller, requirements_file: requirements.txt, interpreter: ${interpreter}`;
          const config = await readPluginsConfig(
            `plugins:\n  - { name: teller, kind: isolated_venv, hooks: [tool_pre_invoke], config: { ${block} } }\n`,
          );
          await using host = createPluginHost({ config, kinds: [isolatedVenv({ cwd, acquire: store.acquire })] });
          const { metadata } = await host.run({
            hook: "tool_pre_invoke",
            payload: { name: "t", args: {} },
            globalContext: { state: {}, metadata: {} },
          });
          const asked = ["-c", "import platform; print(platform.python_version())"];
          const version = execFileSync(interpreter, asked, { encoding: "utf8" }).trim();
          expect(metadata).toEqual({ python: version });
          expect(host.list()).toMatchObject([{ evidence: { pythonVersion: version } }]);
        } finally {
          process.env["PATH"] = path;
        }
      },
      60_000,
    );
  }
});
