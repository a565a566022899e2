import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { sampleRecord } from "../../src/contract/store-subject.js";
import type { Scheduler } from "../../src/index.js";
import { openSqliteLeaseStore, readSqliteLeases, type SqliteStoreOptions } from "../../src/sqlite.js";
import { storePath } from "./store-folder.js";
import { startWriter } from "./writers.js";

async function openStore(options: SqliteStoreOptions) {
  const store = await openSqliteLeaseStore(options);
  onTestFinished(() => store.close());
  return store;
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("the files of a store", () => {
  it("are its owner's alone, in a folder that is made for it", async () => {
    const path = join(dirname(storePath()), "state", "leases", "leases.db");
    const store = await openStore({ path });
    await store.insert(sampleRecord(1));
    expect(modeOf(dirname(path))).toBe("700");
    for (const name of readdirSync(dirname(path))) expect(modeOf(join(dirname(path), name)), name).toBe("600");
    await store.close();
    expect(readdirSync(dirname(path)).sort()).toEqual(["leases.db", "leases.db-lock"]);
    expect(statSync(`${path}-lock`).size).toBe(0);
  });

  it("are refused where others may use the folder", async () => {
    const path = join(dirname(storePath()), "open", "leases.db");
    mkdirSync(dirname(path), { mode: 0o755 });
    await expect(openSqliteLeaseStore({ path })).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("0755"),
      cure: `chmod 700 ${dirname(path)}`,
    });
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it("are refused when the file is a link, and nothing behind it is touched", async () => {
    const path = storePath();
    const other = `${path}.other`;
    writeFileSync(other, "x".repeat(600), { mode: 0o600 });
    symlinkSync(other, path);
    await expect(openSqliteLeaseStore({ path })).rejects.toMatchObject({ code: "STORE_FAILED" });
    await expect(readSqliteLeases(path)).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(statSync(other).size).toBe(600);
  });

  it("may have names that mean something to SQLite or to URLs", async () => {
    for (const name of [":memory:", "file:a?mode=memory", "a?immutable=0#b%20c.db", "ü ☃.db"]) {
      const path = join(dirname(storePath()), name);
      const store = await openStore({ path });
      await store.insert(sampleRecord(1));
      await store.close();
      expect(existsSync(path), name).toBe(true);
      expect((await readSqliteLeases(path))?.leases.length).toBe(1);
    }
  });
});

describe("options of a store", () => {
  it("are read strictly, and every fault is named", async () => {
    const path = storePath();
    const wrong = { path: "a\0b", maxBytes: 1, touchMs: 1.5, busyMs: -1, maxByte: 3 };
    await expect(openSqliteLeaseStore(wrong)).rejects.toMatchObject({
      code: "OPTION_INVALID",
      faults: ["maxByte", "path", "maxBytes", "touchMs", "busyMs"].map((field) => ({ field })),
    });
    await expect(readSqliteLeases("")).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect(existsSync(path)).toBe(false);
  });
});

describe("last uses", () => {
  it("are written together after a while, and not before", async () => {
    const path = storePath();
    const waiting: (() => void)[] = [];
    const scheduler: Scheduler = {
      now: () => 0,
      after: (delayMs, callback) => {
        expect(delayMs).toBe(1_000);
        waiting.push(callback);
        return { cancel: () => {} };
      },
    };
    const store = await openStore({ path, scheduler });
    for (const number of [1, 2]) await store.insert(sampleRecord(number));
    for (const number of [1, 2, 1]) store.touch(sampleRecord(number).id, 5_000 + number);
    const written = async () => (await readSqliteLeases(path))?.leases.map(({ lastUsedAt }) => lastUsedAt);
    expect(await written()).toEqual([1, 2].map((number) => sampleRecord(number).lastUsedAt));
    expect((await store.list()).map(({ lastUsedAt }) => lastUsedAt)).toEqual([5_001, 5_002]);
    expect(waiting.length).toBe(1);
    waiting[0]?.();
    expect(await written()).toEqual([5_001, 5_002]);
    expect((await readSqliteLeases(path))?.leases.map(({ generation }) => generation)).toEqual([1, 1]);
    store.touch(sampleRecord(1).id, 6_000);
    await store.close();
    expect(await written()).toEqual([6_000, 5_002]);
  });

  it("are written at once when as many wait as may", async () => {
    const path = storePath();
    const store = await openStore({ path, maxPendingTouches: 2, touchMs: 600_000 });
    for (const number of [1, 2]) await store.insert(sampleRecord(number));
    for (const number of [1, 2]) store.touch(sampleRecord(number).id, 9);
    expect((await readSqliteLeases(path))?.leases.map(({ lastUsedAt }) => lastUsedAt)).toEqual([9, 9]);
  });
});

describe("a full disk", () => {
  it("refuses what does not fit, keeps what was written, and goes on when there is room", async () => {
    const path = storePath();
    const store = await openStore({ path, maxBytes: 1_048_576 });
    let count = 0;
    const fill = async (): Promise<void> => {
      for (;;) {
        const labels = { text: "x".repeat(3_000) };
        await store.insert(sampleRecord(count + 1, { labels }));
        count += 1;
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: "STORE_FAILED", cure: expect.stringContaining("free space") });
    expect((await store.list()).length).toBe(count);
    const { id } = sampleRecord(1);
    await store.update(id, 1, { state: "releasing", labels: {} });
    await store.update(id, 2, { state: "released", endedAt: 1 });
    expect(await store.prune(2)).toBe(1);
    await store.insert(sampleRecord(1));
    await store.close();
    expect((await readSqliteLeases(path))?.leases.length).toBe(count);
  });

  partTest("util-linux")("of the system's own refuses the write, and the store is whole afterwards", async () => {
    const path = storePath();
    const writer = startWriter(path, "write", ["prlimit", "--fsize=300000", "--"]);
    const lines = await writer.all;
    expect(lines[0]).toBe("open");
    expect(lines.at(-1)).toBe("STORE_FAILED");
    const store = await openStore({ path });
    const generations = new Map((await store.list()).map(({ id, generation }) => [id, generation]));
    for (const [, id = "", generation] of lines.join("\n").matchAll(/^([0-9a-f]{32}) (\d)$/gm)) {
      expect(generations.get(id) ?? 4).toBeGreaterThanOrEqual(Number(generation));
    }
  });
});

describe("a write that the system fails", () => {
  it("makes every later call reject until the store is opened again, with all that was acknowledged", () => {
    const program = fileURLToPath(new URL("./programs/limited-writer.mjs", import.meta.url));
    const limited = ["-c", 'ulimit -f 400; exec "$@"', "sh", process.execPath, program, storePath()];
    const { stdout, stderr } = spawnSync("/bin/sh", limited, { encoding: "utf8", timeout: 60_000 });
    const later = ["STORE_FAILED", "STORE_FAILED", "STORE_FAILED"];
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({ failure: "STORE_FAILED", later, isKept: true });
  });
});

describe("reading", () => {
  it("finds nothing where no store is, and makes nothing", async () => {
    const path = storePath();
    expect(await readSqliteLeases(path)).toBeUndefined();
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it("makes no file and leaves all as it is, whether the writer lives, was killed or has closed", async () => {
    const path = storePath();
    const filesOf = () =>
      readdirSync(dirname(path)).map((name) => {
        const { size, mtimeMs } = statSync(join(dirname(path), name));
        // The index of the log is memory that SQLite shares between processes.
        return name.endsWith("-shm") ? basename(name) : [name, size, mtimeMs];
      });
    const writer = startWriter(path, "hold");
    await writer.first;
    for (const state of ["living", "killed", "closed"]) {
      if (state === "killed") await writer.kill();
      if (state === "closed") await (await openSqliteLeaseStore({ path })).close();
      const before = filesOf();
      expect((await readSqliteLeases(path))?.leases, state).toEqual([]);
      expect(filesOf(), state).toEqual(before);
    }
  });

  it("ends with its signal", async () => {
    const reason = new Error("enough");
    await expect(readSqliteLeases(storePath(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe("the lock", () => {
  it("goes on to the next one in this process as well", async () => {
    const path = storePath();
    const store = await openStore({ path });
    const second = openSqliteLeaseStore({ path });
    await expect(second).rejects.toMatchObject({ code: "STORE_LOCKED" });
    await expect(second).rejects.toThrow(`process ${process.pid} on`);
    // Neither a refused open nor a read lets go of what the first one holds (fcntl(2): any close of the file would).
    await readSqliteLeases(path);
    const writer = startWriter(path, "hold");
    expect(await writer.first).toBe("STORE_LOCKED");
    await store.close();
    const next = startWriter(path, "hold");
    expect(await next.first).toBe("open");
    await next.kill();
  });

  it("is free again when an open was refused for another reason", async () => {
    const path = storePath();
    writeFileSync(path, "x", { mode: 0o600 });
    for (let round = 0; round < 2; round += 1) {
      await expect(openSqliteLeaseStore({ path })).rejects.toMatchObject({ code: "STORE_DAMAGED" });
    }
  });
});
