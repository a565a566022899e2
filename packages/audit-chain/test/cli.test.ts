import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { rewrite, scratch, segmentsOf, sessionEntries, writeLog } from "./scratch.js";

const bin = fileURLToPath(new URL("../bin/berth-audit.js", import.meta.url));
const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

function berthAudit(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [bin, ...args], { encoding: "utf8", env: {} });
}

async function damaged(): Promise<string> {
  const directory = await writeLog(sessionEntries(2));
  rewrite(directory, (bytes) => Buffer.from(bytes.toString().replace("note 1", "note 2")));
  return directory;
}

describe("berth-audit verify", () => {
  it("says that a log verified, and exits 0", async () => {
    const directory = await writeLog(sessionEntries(2));
    const run = berthAudit("verify", directory, "--strict");
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toMatch(/^ok {4}log {2}6 entries, head 6 [0-9a-f]{64}\nverified: 6 entries in 1 log\(s\)\n$/);
  });

  it("names the damaged entry and its place, and exits 1", async () => {
    const run = berthAudit("verify", await damaged());
    expect([run.status, run.stderr]).toEqual([1, ""]);
    expect(run.stdout).toContain("FAIL  log  5 entries");
    expect(run.stdout).toMatch(/problem {2}HASH_MISMATCH {2}entry 4 {2}0000000000000001\.jsonl byte \d+: /);
    expect(run.stdout).toContain("NOT verified: 1 of 1 log(s)");
  });

  it("prints the report as JSON", async () => {
    const directory = await damaged();
    const run = berthAudit("verify", "--json", directory);
    expect(run.status).toBe(1);
    expect(JSON.parse(run.stdout)).toMatchObject({
      ok: false,
      entries: 5,
      head: { sequence: 6, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      problems: [{ log: "log", seq: 4, code: "HASH_MISMATCH", message: expect.any(String) }],
      logs: [{ id: "log", entries: 5, ok: false }],
    });
  });

  it("takes a folder of logs", async () => {
    const folder = scratch();
    for (const id of ["one", "two"]) await writeLog(sessionEntries(1), { directory: join(folder, id) });
    const run = berthAudit("verify", folder, "--json");
    expect(run.status).toBe(0);
    expect(JSON.parse(run.stdout).logs.map(({ id }: { id: string }) => id)).toEqual(["one", "two"]);
  });

  it("takes one segment, from wherever it starts, and says what that leaves out", async () => {
    const entries = Array.from({ length: 30 }, () => ({ type: "a", text: "x".repeat(10_000) }));
    const directory = await writeLog(entries, { maxSegmentBytes: 131_072 });
    const run = berthAudit("verify", join(directory, segmentsOf(directory)[1] ?? ""));
    expect(run.status).toBe(0);
    expect(run.stdout).toMatch(/notice {2}STARTS_LATE {2}entry \d+ /);
  });

  it("takes segments that were joined into one file", async () => {
    const entries = Array.from({ length: 30 }, () => ({ type: "a", text: "x".repeat(10_000) }));
    const directory = await writeLog(entries, { maxSegmentBytes: 131_072 });
    const joined = join(scratch(), "joined.jsonl");
    writeFileSync(joined, Buffer.concat(segmentsOf(directory).map((name) => readFileSync(join(directory, name)))));
    const run = berthAudit("verify", joined, "--strict");
    expect([run.status, run.stdout.split("\n").at(-2)]).toEqual([0, "verified: 30 entries in 1 log(s)"]);
  });

  it.each([
    { name: "no command", args: [], says: "no command" },
    { name: "an unknown command", args: ["check", "x"], says: "unknown command check" },
    { name: "no path", args: ["verify"], says: "one file or folder" },
    { name: "two paths", args: ["verify", "a", "b"], says: "one file or folder" },
    { name: "an unknown option", args: ["verify", "a", "--strcit"], says: "--strcit" },
    { name: "a path that is not there", args: ["verify", "/nonexistent"], says: "there is no /nonexistent" },
  ])("exits 2 for $name", ({ args, says }) => {
    const run = berthAudit(...args);
    expect([run.status, run.stdout]).toEqual([2, ""]);
    expect(run.stderr).toContain(says);
  });

  it("exits 1 for a folder without a log, since nothing was verified", () => {
    const run = berthAudit("verify", scratch());
    expect(run.status).toBe(1);
    expect(run.stderr).toContain("there is no log in");
  });

  it("verifies to the end when nobody reads what it prints, and exits as the log deserves", async () => {
    const folder = scratch();
    for (const name of ["one", "two"]) await writeLog(sessionEntries(1), { directory: join(folder, name) });
    rewrite(join(folder, "two"), (bytes) => Buffer.from(bytes.toString().replace("note 0", "note 1")));
    const child = spawn(process.execPath, [bin, "verify", folder], { stdio: ["ignore", "pipe", "pipe"], env: {} });
    child.stdout.destroy();
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    expect(await once(child, "close")).toEqual([1, null]);
    expect(said).toBe("");
  });

  it("names a path that goes through a file, without a stack trace", async () => {
    const directory = await writeLog(sessionEntries(1));
    const run = berthAudit("verify", join(directory, segmentsOf(directory)[0] ?? "", "below"));
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(/^berth-audit: .* cannot be read: ENOTDIR\n$/);
  });

  it("answers --help and --version", () => {
    expect(berthAudit("--help")).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("Examples:") });
    expect(berthAudit("--version")).toMatchObject({ status: 0, stdout: `${manifest.version}\n` });
  });
});
