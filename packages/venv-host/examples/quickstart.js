import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isolatedVenv, openEnvironmentStore, pluginEnvironments } from "@berth/venv-host";
import { createPluginHost, readPluginsConfig } from "@berth/venv-host/executor";

const folder = await mkdtemp("/tmp/plugins-");
const guard = join(folder, "plugins", "guard");
await mkdir(guard, { recursive: true });
await writeFile(join(guard, "requirements.txt"), "cpex==0.1.4\n");
await writeFile(
  join(guard, "__init__.py"),
  `from cpex.framework import Plugin, PluginViolation, ToolPreInvokeResult

class Guard(Plugin):
    async def tool_pre_invoke(self, payload, context):
        if payload.name != "rm":
            return ToolPreInvokeResult()
        violation = PluginViolation(reason="no rm", description="rm is not allowed", code="NO_RM")
        return ToolPreInvokeResult(continue_processing=False, violation=violation)
`,
);
const config = await readPluginsConfig(`plugins:
  - name: guard
    kind: isolated_venv
    hooks: [tool_pre_invoke]
    config: { class_name: guard.Guard, requirements_file: requirements.txt }
`);

const store = await openEnvironmentStore({ path: join(folder, "store") });
const kinds = [isolatedVenv({ cwd: folder, acquire: pluginEnvironments({ store }) })];
const host = createPluginHost({ config, kinds }); // builds the environment at the first call
try {
  for (const name of ["ls", "rm"]) {
    const payload = { name, args: {} };
    const globalContext = { user: "ann", state: {}, metadata: {} };
    const { allowed, violation } = await host.run({ hook: "tool_pre_invoke", payload, globalContext });
    console.log(name, allowed ? "is allowed" : `is denied by ${violation.plugin}: ${violation.reason}`);
  }
} finally {
  await host.close();
  await store.close();
  await rm(folder, { recursive: true });
}
