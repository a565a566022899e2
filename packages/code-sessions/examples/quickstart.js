import { mkdtemp, rm } from "node:fs/promises";
import { createSessions } from "@berth/code-sessions";
import { createBubblewrapProvider, createLeases, createMemoryLeaseStore } from "@berth/environment-leases";

// One kind of environment: a sandbox with Python, no network, and its files in memory.
const folder = await mkdtemp("/tmp/quickstart-");
const provider = await createBubblewrapProvider({ folder });
const leases = createLeases({
  store: createMemoryLeaseStore(),
  providers: [provider],
  profiles: { python: { provider: provider.name, template: "/usr/bin/python3" } },
});
const sessions = createSessions({ leases, profile: "python" });
try {
  const session = await sessions.start({ owner: "alice" });
  await session.execute({ code: "import statistics\nvalues = [1, 2, 4, 8]" });
  const { status, stdout, result } = await session.execute({ code: "print(len(values))\nstatistics.mean(values)" });
  console.log(status, stdout.text.trim(), result);
  const { fault } = await session.execute({ code: "values[4]" });
  console.log(fault.name, "-", fault.message);
  await session.stop();
} finally {
  await sessions.close();
  await leases.close();
  await provider.close();
  await rm(folder, { recursive: true });
}
