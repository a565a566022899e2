// A host that leases real sandboxes, written down in SQLite, until it is killed. Says "recovered" with what it found when it has
// recovered what an earlier one left. Argument: { folder, report, once } as JSON; the report spares it the
// probe of the machine, `once` says to do nothing more.
import { registerHooks } from "node:module";
import { join } from "node:path";

const { folder, report, once } = JSON.parse(process.argv[2]);
globalThis.reportOfTest = report;
const stated = [
  'export * from "@berth/process-confinement";',
  "export const probe = async () => globalThis.reportOfTest;",
].join("\n");
const statedUrl = `data:text/javascript,${encodeURIComponent(stated)}`;
registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== "@berth/process-confinement") return next(specifier, context);
    // A data URL has no place to resolve from.
    if (context.parentURL === statedUrl) return next(specifier, { ...context, parentURL: import.meta.url });
    return { url: statedUrl, format: "module", shortCircuit: true };
  },
});

const { createBubblewrapProvider, createLeases } = await import("@berth/environment-leases");
const { openSqliteLeaseStore } = await import("@berth/environment-leases/sqlite");
const store = await openSqliteLeaseStore({ path: join(folder, "leases.db") });
const provider = await createBubblewrapProvider({ folder: join(folder, "w") });
// Limits that control groups hold, where there are any: groups, too, must not be left.
const limits = report.limits.includes("memoryBytes") ? { memoryBytes: 2 ** 27, processes: 64 } : {};
const leases = createLeases({
  store,
  providers: [provider],
  profiles: { python: { provider: provider.name, template: "/usr/bin/python3", policy: { limits } } },
  limits: { sweepMs: 100 },
});
process.stdout.write(`recovered ${JSON.stringify(await leases.recover())}\n`);

async function live(owner) {
  for (;;) {
    const lease = await leases.acquire({ owner, profile: "python", ttlMs: 60_000 });
    const warm = await leases.warm({ profile: "python" });
    await lease.run(["true"]);
    const other = await warm.activate({ owner, ttlMs: 60_000, idleMs: 1_000 });
    await other.open(["sleep", "600"]);
    await lease.renew({ ttlMs: 120_000 });
    await Promise.all([leases.sweep(), lease.release()]);
    await other.release();
  }
}
if (once !== true) await Promise.all([live("ann"), live("bob")]);
await leases.close();
await provider.close();
await store.close();
