// A host of so many plugins, each with a worker of its own that answered: `node many-plugins.mjs FOLDER PYTHON COUNT`.
import { isolatedVenv } from "@berth/venv-host";
import { createPluginHost, readPluginsConfig } from "@berth/venv-host/executor";

const [folder, python, count] = process.argv.slice(2);
const entries = Array.from({ length: Number(count) }, (_, index) => {
  const config = "{ class_name: cpex_stub.Echo }";
  return `  - { name: plugin-${index}, kind: isolated_venv, hooks: [tool_pre_invoke], config: ${config} }\n`;
});
const environment = { path: folder, python, close: async () => {} };
const host = createPluginHost({
  config: await readPluginsConfig(`plugins:\n${entries.join("")}`),
  kinds: [isolatedVenv({ cwd: folder, acquire: async () => environment })],
});
await host.start();
const request = {
  hook: "tool_pre_invoke",
  payload: { name: "search", args: { text: "x".repeat(100) } },
  globalContext: { state: {}, metadata: {} },
};
for (let call = 0; call < 20; call++) {
  const { executions } = await host.run(request);
  if (executions.filter(({ status }) => status === "allowed").length !== Number(count))
    throw new Error("not all answered");
}
process.stdout.write("ready\n");
process.stdin.resume().once("end", () => host.close());
