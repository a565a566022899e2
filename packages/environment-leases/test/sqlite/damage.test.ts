import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { sampleRecord } from "../../src/contract/store-subject.js";
import { openSqliteLeaseStore, readSqliteLeases } from "../../src/sqlite.js";
import { storePath } from "./store-folder.js";
import { linesOf, startWriter } from "./writers.js";

const script = fileURLToPath(new URL("programs/damage_store.py", import.meta.url));

function damage(way: string, path: string): void {
  const { status, stderr } = spawnSync("python3", [script, way, path], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
}

/** A store that was closed, with rows in several states. */
async function closedStore(): Promise<string> {
  const path = storePath();
  const store = await openSqliteLeaseStore({ path });
  for (let number = 1; number <= 40; number += 1) await store.insert(sampleRecord(number));
  await store.update(sampleRecord(7).id, 1, { state: "active" });
  await store.close();
  return path;
}

/** A store whose writer was killed, with rows in its log. */
async function killedStore(): Promise<string> {
  const path = storePath();
  const writer = startWriter(path);
  await linesOf(writer, 40);
  await writer.kill();
  return path;
}

const codeOf = async (work: Promise<unknown>): Promise<unknown> => {
  const [outcome] = await Promise.allSettled([work]);
  return outcome?.status === "rejected" ? outcome.reason.code : "resolved";
};

const needsPython = partTest("python3");

describe("a store that was closed", () => {
  const ways = [
    ["empty", "STORE_DAMAGED"],
    ["half", "STORE_DAMAGED"],
    ["no-database", "STORE_DAMAGED"],
    ["header-bit", "STORE_DAMAGED"],
    ["row-bit", "STORE_DAMAGED"],
    ["number-in-a-row", "STORE_DAMAGED"],
    ["zero-page", "STORE_DAMAGED"],
    ["index", "STORE_DAMAGED"],
    ["other-state", "STORE_DAMAGED"],
    ["trigger", "STORE_DAMAGED"],
    ["later-version", "STORE_VERSION_UNKNOWN"],
    ["other-database", "STORE_VERSION_UNKNOWN"],
  ] as const;
  for (const [way, code] of ways) {
    needsPython(`is refused after this damage, each time, and is left as it is: ${way}`, async () => {
      const path = await closedStore();
      damage(way, path);
      for (let round = 0; round < 2; round += 1) {
        expect(await codeOf(readSqliteLeases(path))).toBe(code);
        expect(await codeOf(openSqliteLeaseStore({ path }))).toBe(code);
      }
    });
  }
});

describe("a store whose writer was killed", () => {
  for (const way of ["log-header", "log-middle", "log-before-last", "no-file"]) {
    needsPython(`is refused after this damage, where SQLite would drop acknowledged rows: ${way}`, async () => {
      const path = await killedStore();
      damage(way, path);
      for (let round = 0; round < 2; round += 1) {
        expect(await codeOf(openSqliteLeaseStore({ path }))).toBe("STORE_DAMAGED");
      }
      if (way !== "no-file") expect(await codeOf(readSqliteLeases(path))).toBe("STORE_DAMAGED");
    });
  }

  needsPython("opens without the last write when a crash of the machine tore it", async () => {
    const path = await killedStore();
    const before = await readSqliteLeases(path);
    damage("log-end", path);
    const store = await openSqliteLeaseStore({ path });
    const after = await store.list();
    const changed = before?.leases.filter(
      (record) => after.find(({ id }) => id === record.id)?.generation !== record.generation,
    );
    expect(changed?.length).toBeLessThanOrEqual(1);
    await store.close();
  });
});
