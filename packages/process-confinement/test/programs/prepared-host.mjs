// A host that has prepared sandboxes: says when it begins, tells the numbers of its children once all wait, opens one if it is
// asked to, and says so. `NAME COUNT [open]`.
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { createPreparedSandboxes } from "@berth/process-confinement";

const [name, count, open] = process.argv.slice(2);
// A group for a limit, and where it can be had one by which it is held still.
const watched = { workspace: { kind: "folder", source: dirname(fileURLToPath(import.meta.url)) } };
const policy = open === undefined ? { ...watched, limits: { processes: 16, diskBytes: 2 ** 30 } } : {};
process.stdout.write("begun\n");
const prepared = createPreparedSandboxes({ name, count: Number(count), policy, file: "/bin/sh" });
await prepared.ready();
process.stdout.write(`${readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim()}\n`);
if (open !== undefined) {
  await prepared.open({ args: ["-c", "sleep 600 & setsid sleep 601 & wait"], env: { PATH: "/usr/bin:/bin" } });
  process.stdout.write("opened\n");
}
setInterval(() => {}, 1_000);
