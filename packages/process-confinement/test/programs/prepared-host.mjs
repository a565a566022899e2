// A host that has prepared sandboxes: says when it begins, tells the numbers of its children once all wait, opens one if it is
// asked to, and says so. `NAME COUNT [open]`.
import { readFileSync } from "node:fs";
import { createPreparedSandboxes } from "@berth/process-confinement";

const [name, count, open] = process.argv.slice(2);
const policy = open === undefined ? { limits: { processes: 16 } } : {};
process.stdout.write("begun\n");
const prepared = createPreparedSandboxes({ name, count: Number(count), policy, file: "/bin/sh" });
await prepared.ready();
process.stdout.write(`${readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim()}\n`);
if (open !== undefined) {
  await prepared.open({ args: ["-c", "sleep 600 & setsid sleep 601 & wait"], env: { PATH: "/usr/bin:/bin" } });
  process.stdout.write("opened\n");
}
setInterval(() => {}, 1_000);
