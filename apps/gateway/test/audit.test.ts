import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { gateway, logEntries, small, type Workplace, workplace } from "./gateway.js";

const pin = (place: Workplace) => gateway(["pin", "--catalog", place.catalog, "--state", place.state, "--yes"]);

async function withLog(place: Workplace): Promise<string> {
  await place.writeCatalog({ one: small(place) });
  await pin(place);
  const [log = ""] = await readdir(join(place.state, "audit"));
  const folder = join(place.state, "audit", log);
  const segment = (await readdir(folder)).find((name) => !name.includes("lock")) ?? "";
  return join(folder, segment);
}

describe("berth-gateway audit", { timeout: 60_000 }, () => {
  it("verifies, as JSON with the logs of the folder", async () => {
    await using place = await workplace();
    await withLog(place);
    const { code, stdout } = await gateway(["audit", "verify", "--state", place.state, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      entries: 4,
      head: { sequence: 4, hash: expect.stringMatching(/^[0-9a-f]{64}$/u) },
      problems: [],
      logs: [{ id: expect.any(String), entries: 4, ok: true }],
    });
    expect(await gateway(["audit", "verify", "--state", place.state])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("verified"),
    });
  });

  it("names the entry in which one byte was flipped, and ends with 1", async () => {
    await using place = await workplace();
    const segment = await withLog(place);
    const text = await readFile(segment, "utf8");
    await writeFile(segment, text.replace('"server":"one"', '"server":"two"'));
    const { code, stdout } = await gateway(["audit", "verify", "--state", place.state, "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      problems: expect.arrayContaining([expect.objectContaining({ seq: 2, code: "HASH_MISMATCH" })]),
    });
    const shown = await gateway(["audit", "verify", "--state", place.state]);
    expect(shown).toMatchObject({ code: 1, stdout: expect.stringMatching(/entry 2: HASH_MISMATCH/u) });
  });

  it("prints the newest entries, one a line, for people and for programs", async () => {
    await using place = await workplace();
    await withLog(place);
    const lines = (await gateway(["audit", "tail", "--state", place.state, "-n", "2"])).stdout.trim().split("\n");
    expect(lines.map((line) => line.split(/\s+/u)[2])).toEqual(["child.exit", "session.close"]);
    const entries = await logEntries(place.state);
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(entries[1]).toMatchObject({
      seq: 2,
      time: expect.stringMatching(/Z$/u),
      type: "spawn",
      session: expect.any(String),
      server: "one",
      log: expect.any(String),
    });
  });

  it("prints the newest 20 for people and all for programs, unless it is told how many", async () => {
    await using place = await workplace();
    await withLog(place);
    for (let run = 0; run < 5; run += 1) await pin(place);
    const tail = async (...args: string[]) => {
      const { code, stdout } = await gateway(["audit", "tail", "--state", place.state, ...args]);
      expect(code).toBe(0);
      return stdout.split("\n").slice(0, -1);
    };
    const all = await tail("--json");
    expect(all).toHaveLength(24);
    expect(await tail("--json", "-n", "3")).toEqual(all.slice(-3));
    expect(await tail("--json", "--lines", "all")).toEqual(all);
    expect(await tail()).toHaveLength(20);
    expect(await tail("-n", "all")).toHaveLength(24);
    expect(await tail("-n", "1")).toEqual([expect.stringContaining("session.close")]);
    const { stdout } = await gateway(["audit", "tail", "--help"]);
    expect(stdout.replace(/\s+/gu, " ")).toContain("how many, or all (default: 20; with --json all)");
  });

  it("prints nothing where no gateway has written a log yet", async () => {
    await using place = await workplace();
    await gateway(["doctor", "--state", place.state]);
    for (const args of [
      ["audit", "tail"],
      ["audit", "tail", "--json"],
    ])
      expect(await gateway([...args, "--state", place.state])).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(await gateway(["status", "--state", place.state])).toMatchObject({ code: 0 });
  });

  it("prints a damaged log up to the damage, names it, and prints the others", async () => {
    await using place = await workplace();
    const segment = await withLog(place);
    await writeFile(segment, (await readFile(segment, "utf8")).replace('"server":"one"', '"server":"two"'));
    await pin(place);
    const { code, stdout, stderr } = await gateway(["audit", "tail", "--state", place.state, "--json"]);
    const seqs = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).seq]));
    expect({ code, seqs }).toEqual({ code: 1, seqs: [1, 1, 2, 3, 4] });
    expect(stderr).toContain(`log ${basename(dirname(segment))}: `);
    const status = await gateway(["status", "--state", place.state, "--json"]);
    expect(JSON.parse(status.stdout).logs).toMatchObject([
      { damage: expect.stringContaining("entry 2"), closed: false },
      { damage: null, closed: true },
    ]);
  });
});
