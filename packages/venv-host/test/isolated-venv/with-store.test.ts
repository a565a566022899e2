import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { partTest, scratchFolder } from "../../../../fixtures/parts.js";
import { openEnvironmentStore } from "../../src/environments/open-environment-store.js";
import { readPluginsConfig } from "../../src/executor/config/read-plugins-config.js";
import { createPluginHost } from "../../src/executor/create-plugin-host.js";
import { isolatedVenv } from "../../src/isolated-venv/isolated-venv.js";
import { makeCwd, temporaryFolder } from "./plugins.js";

const maker = fileURLToPath(new URL("../../../../fixtures/cpex-stub/make_wheel.py", import.meta.url));
const uv = join(scratchFolder, "uv", "bin", "uv");

const yaml = `plugins:
  - name: greeter
    kind: isolated_venv
    hooks: [tool_pre_invoke]
    config:
      class_name: greeter.Greeter
      requirements_file: requirements.txt
`;
const source = `class Greeter:
    def __init__(self, config):
        pass
    def tool_pre_invoke(self, payload, context):
        return {"modified_payload": {**payload, "args": {"greeting": "hello"}}}
`;

partTest("uv")(
  "from plugins.yaml to a running plugin: its environment is built once, and found again by the next host",
  async () => {
    const cwd = makeCwd();
    const wheels = temporaryFolder();
    execFileSync("python3", [maker, wheels, "0.1.4"]);
    mkdirSync(join(cwd, "plugins", "greeter"));
    writeFileSync(join(cwd, "plugins", "greeter", "__init__.py"), source);
    writeFileSync(join(cwd, "plugins", "greeter", "requirements.txt"), "cpex==0.1.4\n");
    const before = process.env["PATH"];
    process.env["PATH"] = `${dirname(uv)}:${before}`;
    try {
      await using store = await openEnvironmentStore({
        path: join(temporaryFolder(), "store"),
        index: { from: "wheels", folders: [wheels] },
      });
      const origins: string[] = [];
      for (let turn = 0; turn < 2; turn++) {
        const kind = isolatedVenv({
          cwd,
          acquire: async (request, options) => {
            const held = await store.acquire(request, options);
            origins.push(held.origin);
            return held;
          },
        });
        const config = await readPluginsConfig(yaml);
        await using host = await createPluginHost({ config, kinds: [kind] });
        const payload = { name: "t", args: {} };
        const outcome = await host.run({
          hook: "tool_pre_invoke",
          payload,
          globalContext: { state: {}, metadata: {} },
        });
        expect(outcome).toMatchObject({ payload: { args: { greeting: "hello" } } });
      }
      expect(origins).toEqual(["built", "cached"]);
      expect(readdirSync(cwd)).toEqual(["plugins"]);
      isolatedVenv({ cwd, acquire: store.acquire }); // a store is enough
    } finally {
      process.env["PATH"] = before;
    }
  },
  60_000,
);
