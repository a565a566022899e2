import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { leaseStoreContract, type StoreSubject } from "../../src/contract.js";
import { openSqliteLeaseStore } from "../../src/sqlite.js";

async function openSubject(): Promise<StoreSubject> {
  const folder = mkdtempSync(join(tmpdir(), "berth-leases-"));
  const reopen = () => openSqliteLeaseStore({ path: join(folder, "leases.db") });
  const store = await reopen();
  return {
    store,
    reopen,
    openSecond: reopen,
    dispose: async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe("the SQLite store keeps the contract of lease stores", () => {
  for (const { name, run } of leaseStoreContract(openSubject)) it(name, run);
});
