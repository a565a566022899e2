import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listLogs, readLogs, verifyLog, verifyLogs } from "../src/index.js";
import { open, rejection, rewrite, scratch, segmentsOf, sessionEntries, tickingClock, writeLog } from "./scratch.js";

/** A folder of three logs, begun an hour after each other, against the order of their names. */
async function folderOfLogs(): Promise<string> {
  const folder = scratch();
  for (const [hour, id] of ["log-c", "log-b", "log-a"].entries()) {
    const now = tickingClock(Date.parse("2026-03-01T00:00:00.000Z") + hour * 3_600_000);
    await writeLog(sessionEntries(hour), { directory: join(folder, id), now });
  }
  return folder;
}

describe("listing", () => {
  it("gives the logs, oldest first, and passes over what is none", async () => {
    const folder = await folderOfLogs();
    mkdirSync(join(folder, "empty"));
    mkdirSync(join(folder, "other"));
    writeFileSync(join(folder, "other", "notes.jsonl"), "{}\n");
    writeFileSync(join(folder, "0000000000000001.jsonl"), "");
    mkdirSync(join(folder, ".hidden"));
    expect(await listLogs(folder)).toEqual(
      ["log-c", "log-b", "log-a"].map((id, hour) => ({
        id,
        directory: join(folder, id),
        begun: `2026-03-01T0${hour}:00:00.001Z`,
      })),
    );
  });

  it("knows a log of which only the lock is left, or whose beginning cannot be read", async () => {
    const folder = await folderOfLogs();
    for (const name of segmentsOf(join(folder, "log-a"))) rmSync(join(folder, "log-a", name));
    rewrite(join(folder, "log-b"), () => Buffer.from("{}\n"));
    const logs = await listLogs(folder);
    expect(logs.map(({ id, begun }) => [id, begun])).toEqual([
      ["log-a", null],
      ["log-b", null],
      ["log-c", "2026-03-01T00:00:00.001Z"],
    ]);
  });

  it("says so when the folder cannot be read", async () => {
    expect(await rejection(listLogs(join(scratch(), "none")))).toMatchObject({ code: "READ_FAILED" });
    expect(await rejection(verifyLog(join(scratch(), "none")))).toMatchObject({ code: "READ_FAILED" });
  });
});

describe("reading a folder of logs", () => {
  const namesOf = async (folder: string, onDamage?: (message: string) => void): Promise<readonly string[]> => {
    const names: string[] = [];
    for await (const { log, entry } of readLogs(folder, { onDamage })) names.push(`${log} ${entry.seq}`);
    return names;
  };
  const named = (log: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, at) => `${log} ${at + 1}`);

  it("gives the entries of each, the oldest log first", async () => {
    expect(await namesOf(await folderOfLogs())).toEqual([
      ...named("log-c", 4),
      ...named("log-b", 5),
      ...named("log-a", 6),
    ]);
  });

  it("goes on after a log that is damaged, and tells of it", async () => {
    const folder = await folderOfLogs();
    rewrite(join(folder, "log-b"), (bytes) => Buffer.from(bytes.toString().replace('"seq":2', '"seq":7')));
    const damage: string[] = [];
    const names = await namesOf(folder, (message) => damage.push(message));
    expect(names.filter((name) => !name.startsWith("log-b"))).toEqual([...named("log-c", 4), ...named("log-a", 6)]);
    expect(names.filter((name) => name.startsWith("log-b")).length).toBeLessThan(5);
    expect(damage).toEqual([expect.stringMatching(/^log log-b: /u)]);
  });

  it("gives none where there is no folder yet, and says so where it is none", async () => {
    expect(await namesOf(join(scratch(), "none"))).toEqual([]);
    const file = join(scratch(), "file");
    writeFileSync(file, "");
    expect(await rejection(namesOf(file))).toMatchObject({ code: "READ_FAILED" });
  });
});

describe("verifying a folder of logs", () => {
  it("sums up, with the head of the newest log", async () => {
    const folder = await folderOfLogs();
    const report = await verifyLogs(folder, { strict: true });
    expect(report).toMatchObject({ ok: true, entries: 4 + 5 + 6, problems: [], problemCount: 0, notices: [] });
    expect(report.logs.map(({ id, entries, ok }) => [id, entries, ok])).toEqual([
      ["log-c", 4, true],
      ["log-b", 5, true],
      ["log-a", 6, true],
    ]);
    expect(report.head).toEqual(report.logs[2]?.head);
    expect(report.head?.sequence).toBe(6);
  });

  it("names the log of each problem and each notice, and a bad log does not hide the others", async () => {
    const folder = await folderOfLogs();
    rewrite(join(folder, "log-b"), (bytes) => Buffer.from(bytes.toString().replace('"seq":2', '"seq":3')));
    truncateSync(join(folder, "log-a", segmentsOf(join(folder, "log-a"))[0] ?? ""), 1_000);
    const report = await verifyLogs(folder);
    expect(report.ok).toBe(false);
    expect(report.problems).toEqual([expect.objectContaining({ log: "log-b", seq: 2, code: "HASH_MISMATCH" })]);
    expect(new Set(report.notices.map(({ log }) => log))).toEqual(new Set(["log-a"]));
    expect(report.logs.map(({ ok }) => ok)).toEqual([true, false, true]);
  });

  it("finds logs that changed places, though each is whole", async () => {
    const folder = await folderOfLogs();
    renameSync(join(folder, "log-a"), join(folder, "swap"));
    renameSync(join(folder, "log-b"), join(folder, "log-a"));
    renameSync(join(folder, "swap"), join(folder, "log-b"));
    const report = await verifyLogs(folder);
    expect(report.problems.map(({ log, code }) => `${log} ${code}`)).toEqual([
      "log-a LOG_ID_MISMATCH",
      "log-b LOG_ID_MISMATCH",
    ]);
    expect((await verifyLog(join(folder, "log-a"))).ok).toBe(true);
  });

  it("follows a link to a log's folder, which must bear the name of the link", async () => {
    const folder = await folderOfLogs();
    const elsewhere = scratch();
    for (const id of ["log-a", "log-b"]) renameSync(join(folder, id), join(elsewhere, id));
    symlinkSync(join(elsewhere, "log-a"), join(folder, "log-a"));
    symlinkSync(join(elsewhere, "log-a"), join(folder, "log-b"));
    const report = await verifyLogs(folder);
    expect(report.problems.map(({ log, code }) => `${log} ${code}`)).toEqual(["log-b LOG_ID_MISMATCH"]);
  });

  it("takes logs that are being written as they are at the time", async () => {
    const folder = await folderOfLogs();
    await using live = await open(join(folder, "log-live"));
    await live.append({ type: "session.open", session: "s" });
    const report = await verifyLogs(folder);
    expect(report).toMatchObject({ ok: true, entries: 16, notices: [{ log: "log-live", code: "SESSION_UNCLOSED" }] });
  });
});
