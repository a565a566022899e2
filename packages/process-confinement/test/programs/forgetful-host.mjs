// A host that closes neither its prepared sandboxes nor its starter; tells its children, and comes to its end.
import { readFileSync } from "node:fs";
import { createPreparedSandboxes, createSandboxStarter } from "@berth/process-confinement";

const policy = { workspace: { kind: "memory", maxBytes: 2 ** 20 } };
const options = { policy, file: "/bin/true" };
const prepared = createPreparedSandboxes({ name: "forgotten", count: 2, ...options });
const starter = createSandboxStarter();
await prepared.ready();
const sandboxes = [
  await prepared.open({ args: [], env: {} }),
  await starter.open({ name: `forgotten-${process.pid}`, args: [], env: {}, ...options }),
];
for (const sandbox of sandboxes) {
  await sandbox.exited;
  await sandbox.close();
}
await prepared.ready();
process.stdout.write(readFileSync(`/proc/self/task/${process.pid}/children`, "utf8"));
