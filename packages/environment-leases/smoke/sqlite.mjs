// The SQLite store in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { leaseStoreContract } from "@berth/environment-leases/contract";
import { openSqliteLeaseStore, readSqliteLeases } from "@berth/environment-leases/sqlite";

const hasSqlite = process.getBuiltinModule?.("node:sqlite") !== undefined;

async function openSubject() {
  const folder = mkdtempSync(join(tmpdir(), "berth-leases-smoke-"));
  const reopen = () => openSqliteLeaseStore({ path: join(folder, "leases.db") });
  const store = await reopen();
  const dispose = async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { store, reopen, openSecond: reopen, dispose };
}

if (hasSqlite) {
  for (const { name, run } of leaseStoreContract(openSubject, { rounds: 2 })) test(name, run);

  test("it is loaded without a warning", () => {
    const code = `import { readSqliteLeases } from "@berth/environment-leases/sqlite";
      await readSqliteLeases(${JSON.stringify(join(tmpdir(), "berth-no-such-store", "leases.db"))});
      process.emitWarning("another warning");`;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    assert.match(stderr, /another warning/);
    assert.doesNotMatch(stderr, /SQLite/);
  });
} else {
  test("a Node without node:sqlite is told which have it", async () => {
    const path = join(tmpdir(), "berth-no-such-store", "leases.db");
    const refusal = { code: "SQLITE_UNAVAILABLE", message: /22\.13 and later, 24 and 26/ };
    await assert.rejects(openSqliteLeaseStore({ path }), refusal);
    await assert.rejects(readSqliteLeases(path), refusal);
  });
}
