// A host whose starter has a launcher that waits; tells that launcher's number.
import { readFileSync } from "node:fs";
import { createSandboxStarter } from "@berth/process-confinement";

const starter = createSandboxStarter();
const sandbox = await starter.open({
  name: `starter-${process.pid}`,
  policy: {},
  file: "/bin/true",
  args: [],
  env: {},
});
await sandbox.exited;
await sandbox.close();
const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim();
process.stdout.write(`${children()}\n`);
setInterval(() => {}, 1_000);
