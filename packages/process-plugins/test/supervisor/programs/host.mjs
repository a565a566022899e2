// A host that has one plugin run and another sandbox wait for a second one, says so, and goes on until it is killed.
import { createPluginSupervisor } from "@berth/process-plugins";

const [, , folder, data, confinement] = process.argv;
const plugin = (name) => ({
  name,
  folder,
  dataFolder: `${data}/${name}`,
  limits: { confinement: JSON.parse(confinement) },
});
const supervisor = createPluginSupervisor({
  plugins: [plugin("running"), plugin("stopped")],
  host: { name: "test", version: "1" },
});
await supervisor.instance("running");
await supervisor.instance("stopped");
await supervisor.stop("stopped");
console.log("running");
setInterval(() => {}, 1_000);
