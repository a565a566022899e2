// A host that has prepared sandboxes; tells the numbers of its children once all wait. `NAME COUNT`.
import { readFileSync } from "node:fs";
import { createPreparedSandboxes } from "@berth/process-confinement";

const [name, count] = process.argv.slice(2);
const prepared = createPreparedSandboxes({
  name,
  count: Number(count),
  policy: { limits: { processes: 16 } },
  file: "/bin/sh",
});
await prepared.ready();
const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim();
process.stdout.write(`${children}\n`);
setInterval(() => {}, 1_000);
