import { mkdtemp, rm } from "node:fs/promises";
import { createBubblewrapProvider, createLeases, createMemoryLeaseStore } from "@berth/environment-leases";

const folder = await mkdtemp("/tmp/leases-");
const provider = await createBubblewrapProvider({ folder });
const leases = createLeases({
  store: createMemoryLeaseStore(), // or openSqliteLeaseStore of "@berth/environment-leases/sqlite"
  providers: [provider],
  profiles: { python: { provider: provider.name, template: "/usr/bin/python3" } }, // everything else is denied
});
try {
  await leases.recover(); // ends what an earlier process left
  const lease = await leases.acquire({ owner: "alice", profile: "python", ttlMs: 60_000 });
  const { exitCode, stdout } = await lease.run([lease.interpreter, "-c", "print(6 * 7)"]);
  console.log(exitCode, Buffer.from(stdout).toString().trim());
  await lease.release(); // resolves when the worker's absence was seen
  console.log((await leases.get(lease.id)).state);
} finally {
  await leases.close();
  await provider.close();
  await rm(folder, { recursive: true });
}
