import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gateway, logEntries, type Workplace, workplace } from "./gateway.js";

async function withLog(place: Workplace): Promise<string> {
  await place.writeCatalog({ one: { transport: "stdio", spawn: { command: process.execPath, args: [place.server] } } });
  await gateway(["pin", "--catalog", place.catalog, "--state", place.state, "--yes"]);
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
    expect(lines.map((line) => line.split(/\s+/u)[1])).toEqual(["child.exit", "session.close"]);
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
});
