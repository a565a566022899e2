// A host that leases real sandboxes, written down in SQLite, and kills itself with SIGKILL at one call of its store or its
// provider: before or after the call has had its effect. Argument: { folder, point, when, onRecovery } as JSON.
import { join } from "node:path";
import { createBubblewrapProvider, createLeases } from "@berth/environment-leases";
import { openSqliteLeaseStore } from "@berth/environment-leases/sqlite";

const { folder, point, when, onRecovery } = JSON.parse(process.argv[2]);
let calls = 0;

/** Every call counts, also of functions that give no promise. */
function counted(subject, names) {
  const wrapped = names.map((name) => [
    name,
    async (...given) => {
      calls += 1;
      const isLast = calls === point;
      if (isLast && when === "before") process.kill(process.pid, "SIGKILL");
      const result = await subject[name](...given);
      if (isLast) process.kill(process.pid, "SIGKILL");
      return result;
    },
  ]);
  return { ...subject, ...Object.fromEntries(wrapped) };
}

const store = await openSqliteLeaseStore({ path: join(folder, "leases.db") });
const provider = await createBubblewrapProvider({ folder: join(folder, "w") });
const leases = createLeases({
  store: counted(store, ["insert", "update", "get", "list", "listDue", "prune"]),
  providers: [counted(provider, ["create", "destroy", "exists", "listWorkers"])],
  profiles: { python: { provider: provider.name, template: "/usr/bin/python3" } },
  onRecovery,
});

await leases.recover();
const lease = await leases.acquire({ owner: "ann", profile: "python", ttlMs: 60_000 });
const warm = await leases.warm({ profile: "python" });
await lease.run([lease.interpreter, "-c", "print(1)"]);
const other = await warm.activate({ owner: "bob", ttlMs: 60_000 });
await other.open([other.interpreter, "-c", "import time; time.sleep(600)"]);
await lease.renew({ ttlMs: 120_000 });
await leases.sweep();
await lease.release();
await other.release();
await leases.acquire({ owner: "cid", profile: "python" });
await leases.sweep();
await leases.close();
await provider.close();
await store.close();
console.log(`calls: ${calls}`);
